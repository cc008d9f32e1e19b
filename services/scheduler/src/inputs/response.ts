// Checks answers from outside against the schema of the node that waits for them: responses to approvals, and payloads of signals. Compiling
// a schema costs milliseconds and checking is bounded (ADR 16). The nodes of one definition get many answers, so the scheduler keeps
// compiled schemas.

import { BoundedMap } from "@pawl/core/data/bounded-map";
import { canonicalJson } from "@pawl/core/definition/canonical";
import type { JsonSchema } from "@pawl/core/definition/shape";
import type { FieldViolation } from "@pawl/core/fault/engine-error";
import { compileContract, type Contract } from "@pawl/platform/contract/contract";

type Field = "response_json" | "payload_json";

const COMPILED_MAX = 200;
const compiled = new BoundedMap<string, Contract>(COMPILED_MAX);

const contractOf = (schema: JsonSchema, field: Field): Contract =>
  compiled.ensure(`${field} ${canonicalJson(schema)}`, () => compileContract(schema, field));

/** Rules that an answer breaks, by path. */
export const checkResponse = (
  schema: JsonSchema,
  answer: unknown,
  field: Field = "response_json",
): FieldViolation[] =>
  contractOf(
    schema,
    field,
  )(answer).map(({ path, message }) => ({
    field: path,
    reason: "CONTRACT_VIOLATION",
    description: message,
  }));

/** The first fault of a response, for people; undefined if it fits. */
export const responseFault = (schema: JsonSchema, response: unknown): string | undefined =>
  faultText(checkResponse(schema, response));

/** The first fault of the payload of a signal, for people; undefined if it fits. */
export const payloadFault = (schema: JsonSchema, payload: unknown): string | undefined =>
  faultText(checkResponse(schema, payload, "payload_json"));

function faultText([first, ...more]: readonly FieldViolation[]): string | undefined {
  if (first === undefined) return undefined;
  const rest = more.length > 0 ? ` (and ${more.length} more)` : "";
  return `${first.field} ${first.description}${rest}`;
}
