// Checks the input of a run against the schema of its workflow, before the run starts. A graph stays in memory while its workflow is used, and
// so does its compiled schema: compiling costs milliseconds, and checking is bounded (ADR 16).

import { checkJson, STORED_LIMITS } from "@pawl/core/data/json";
import { LIMITS } from "@pawl/core/data/limits";
import { hasReference } from "@pawl/core/data/reference";
import type { Graph } from "@pawl/core/definition/graph";
import { EngineError, type FieldViolation } from "@pawl/core/fault/engine-error";
import { compileContract, type Contract } from "@pawl/platform/contract/contract";

/** A child run gets its input from a node. The scheduler has no value that is outside of the log, so it cannot check it. */
const STORED =
  "has parts that are stored outside of the log, so the schema of the workflow cannot be checked; give less, or remove the schema";

const compiled = new WeakMap<Graph, Contract>();

/** Rules of the workflow that the JSON text of an input breaks, by path. `field` names the input in the request. */
export function inputMisfits(graph: Graph, text: string, field = "input_json"): FieldViolation[] {
  const { inputSchema } = graph.definition;
  if (inputSchema === null) return [];
  let contract = compiled.get(graph);
  if (contract === undefined)
    compiled.set(graph, (contract = compileContract(inputSchema, "input_json")));
  if (hasReference(text)) return [{ field, reason: "STORED_VALUE", description: STORED }];
  const parsed = checkJson(text, { ...STORED_LIMITS, bytes: LIMITS.startInputBytes });
  return contract(parsed.ok ? parsed.value : null).map(({ path, message }) => ({
    field: path.replace("input_json", field),
    reason: "CONTRACT_VIOLATION",
    description: message,
  }));
}

/** The first misfits in words. */
export function misfitText(misfits: readonly FieldViolation[]): string {
  const [first] = misfits;
  const more = misfits.length > 1 ? ` (and ${misfits.length - 1} more)` : "";
  return `${first?.field ?? ""} ${first?.description ?? ""}${more}`;
}

/** @throws INPUT_INVALID with a violation for each path */
export function checkRunInput(graph: Graph, text: string, field?: string): void {
  const violations = inputMisfits(graph, text, field);
  if (violations.length === 0) return;
  const message = `The input does not fit the input_schema of the workflow: ${misfitText(violations)}`;
  throw new EngineError("INPUT_INVALID", message, { violations });
}
