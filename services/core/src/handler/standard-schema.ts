// Schemas of a handler: any library that follows Standard Schema (https://standardschema.dev), such as zod. Checks are synchronous. A check
// that waits belongs into the handler, where its time is limited and its failure has a cause.

import { LIMITS } from "../data/limits.ts";
import { exceedsUtf8 } from "../data/utf8.ts";
import { describe } from "./failure.ts";

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type Verdict<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

type Convert = (options: { readonly target: string }) => Record<string, unknown>;

/** The part of Standard Schema that Pawl uses. `jsonSchema` exists if the library can write JSON Schema. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Verdict<Output> | Promise<Verdict<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: { readonly input: Convert; readonly output: Convert } | undefined;
  };
}

type Types<S> = S extends StandardSchema ? NonNullable<S["~standard"]["types"]> : never;

/** The values that a schema accepts; unknown without a schema. */
export type Accepted<S> = S extends StandardSchema ? Types<S>["input"] : unknown;
/** The values that a schema gives; unknown without a schema. */
export type Given<S> = S extends StandardSchema ? Types<S>["output"] : unknown;

type CheckedValue =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

const ISSUES_MAX = 5;

/** Checks a value. A message has paths and rules and never values, because a config may hold secrets. `root` names the value itself. */
export function checkValue(
  schema: StandardSchema | undefined,
  value: unknown,
  root: string,
): CheckedValue {
  if (schema === undefined) return { ok: true, value };
  const verdict = schema["~standard"].validate(value);
  if (verdict instanceof Promise) {
    verdict.catch(() => undefined);
    const message = `the schema of the ${root} waits; use a schema that checks at once, and wait in the handler`;
    return { ok: false, message };
  }
  if (verdict.issues === undefined) return { ok: true, value: verdict.value };
  const texts = verdict.issues.slice(0, ISSUES_MAX).map((issue) => issueText(issue, root));
  return { ok: false, message: texts.join("; ") };
}

function issueText({ path = [], message }: Issue, root: string): string {
  const steps = path.map((step) => String(typeof step === "object" ? step.key : step));
  return `${steps.join(".") || root}: ${message}`;
}

/** The JSON Schema of one side as text, or "" and why it cannot be published. The handler checks by the schema in both cases. */
export interface SchemaText {
  readonly text: string;
  /** Absent if there is no schema, or if it is published. */
  readonly fault?: string;
}

/** Writes one side of a schema as JSON Schema. */
export function schemaText(
  schema: StandardSchema | undefined,
  side: "input" | "output",
): SchemaText {
  if (schema === undefined) return { text: "" };
  const { vendor, jsonSchema } = schema["~standard"];
  const convert = jsonSchema?.[side];
  if (convert === undefined) return { text: "", fault: `${vendor} writes no JSON Schema` };
  try {
    const text = JSON.stringify(convert({ target: "draft-2020-12" }));
    return exceedsUtf8(text, LIMITS.contractBytes)
      ? { text: "", fault: `it has more than ${LIMITS.contractBytes} bytes` }
      : { text };
  } catch (error) {
    // The schema has a part without a JSON form, such as a date.
    return { text: "", fault: describe(error) };
  }
}
