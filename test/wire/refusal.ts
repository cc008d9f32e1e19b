// The contents of a refused call in every protocol: a code, a reason of ours and the field at fault; and what it must not reveal.
import { Code, ConnectError } from "@connectrpc/connect";
import { errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { BadRequestSchema, ErrorInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import { expect } from "vitest";

/** The expected refusal; fields that are left out are not compared. */
export type Refusal = {
  readonly code: keyof typeof Code;
  readonly reason: string;
  /** The field at fault and the rule it breaks; among others. */
  readonly field?: readonly [field: string, rule: string];
};

/** A request field that breaks a rule. */
export const invalidField = (field: string, rule: string): Refusal => ({
  code: "InvalidArgument",
  reason: "INPUT_INVALID",
  field: [field, rule],
});

const ECHO_LENGTH = 64;
// A frame of a stack, a place in our sources, a statement or an error of the database.
const PRIVATE =
  /\n\s+at |\.[cm]?[jt]s:\d|node_modules|\/services\/|\b(select|insert|update|delete) .*\b(from|into|set)\b|SQLSTATE|violates|invalid input syntax|invalid byte sequence|pawl\.runs/i;

/** Waits for the call to fail. */
export async function failure(call: Promise<unknown>): Promise<ConnectError> {
  const error = await call.then(
    (answer) => new Error(`the call was answered: ${String(answer)}`),
    (thrown: unknown) => thrown,
  );
  if (error instanceof ConnectError) return error;
  throw error;
}

/** The call fails as `refusal` says, and repeats no more of `input` than people need. */
export async function expectRefused(
  call: Promise<unknown>,
  refusal: Refusal,
  input = "",
): Promise<void> {
  expectRefusal(await failure(call), refusal, input);
}

/** The error matches `refusal`, has our domain, and reveals no internals. */
export function expectRefusal(error: ConnectError, refusal: Refusal, input = ""): void {
  const info = error.findDetails(ErrorInfoSchema)[0];
  const violations = error.findDetails(BadRequestSchema).flatMap((bad) => bad.fieldViolations);
  const said = {
    code: Code[error.code],
    reason: info?.reason,
    domain: info?.domain,
    fields: violations.map(({ field, reason }) => [field, reason]),
  };
  const { code, reason, field } = refusal;
  expect(said, error.rawMessage).toMatchObject({ code, reason, domain: "pawl" });
  if (field !== undefined) expect(said.fields, error.rawMessage).toContainEqual(field);
  const texts = [
    error.rawMessage,
    ...Object.values(info?.metadata ?? {}),
    ...violations.flatMap((violation) => [violation.description, violation.field]),
  ];
  for (const text of texts) expectDiscreet(text, input);
}

/** No text of ours reveals internals or repeats a long piece of the request. */
export function expectDiscreet(text: string, input: string): void {
  expect(text).not.toMatch(PRIVATE);
  expect(text.length).toBeLessThanOrEqual(1_000);
  for (let at = 0; at + ECHO_LENGTH < text.length; at++)
    expect(input).not.toContain(text.slice(at, at + ECHO_LENGTH + 1));
}

/** What SSE answers when it refuses: the same error, as JSON. */
export async function sseRefusal(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ConnectError> {
  const response = await fetch(`${url}/execute/workflows/${path}`, { headers });
  const body = Buffer.from(await response.arrayBuffer());
  expect(response.headers.get("content-type")).toBe("application/json");
  return errorFromJsonBytes(body, undefined, new ConnectError(`answered: ${String(body)}`));
}
