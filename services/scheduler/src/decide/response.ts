// Checks responses to approvals against their schema. Compiling a schema costs milliseconds and checking is bounded (ADR 16). The
// approvals of one definition are answered many times, so the scheduler keeps compiled schemas.

import { BoundedMap } from "@pawl/core/data/bounded-map";
import { canonicalJson } from "@pawl/core/definition/canonical";
import type { JsonSchema } from "@pawl/core/definition/shape";
import type { FieldViolation } from "@pawl/core/fault/engine-error";
import { compileContract, type Contract } from "@pawl/platform/contract/contract";

const COMPILED_MAX = 200;
const compiled = new BoundedMap<string, Contract>(COMPILED_MAX);

const contractOf = (schema: JsonSchema): Contract =>
  compiled.ensure(canonicalJson(schema), () => compileContract(schema, "response_json"));

/** Rules that a response breaks, by path. */
export const checkResponse = (schema: JsonSchema, response: unknown): FieldViolation[] =>
  contractOf(schema)(response).map(({ path, message }) => ({
    field: path,
    reason: "CONTRACT_VIOLATION",
    description: message,
  }));

/** The first fault of a response, for people; undefined if it fits. */
export function responseFault(schema: JsonSchema, response: unknown): string | undefined {
  const [first, ...more] = checkResponse(schema, response);
  if (first === undefined) return undefined;
  const rest = more.length > 0 ? ` (and ${more.length} more)` : "";
  return `${first.field} ${first.description}${rest}`;
}
