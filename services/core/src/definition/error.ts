// Turns violations into the error of a refused call.

import { EngineError } from "../fault/engine-error.ts";
import type { Violation } from "./shape.ts";
import { LIMIT_REASONS } from "./violation.ts";

/**
 * CYCLE_DETECTED if cycles are the only fault, LIMIT_EXCEEDED if a size is exceeded, otherwise DEFINITION_INVALID. The error lists every
 * violation as a field violation.
 */
export function definitionError(violations: readonly Violation[]): EngineError {
  const [first] = violations;
  const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
  const where = first === undefined || first.path === "" ? "" : `${first.path}: `;
  const found = first === undefined ? "invalid" : `${placeOf(first)}${where}${first.message}`;
  return new EngineError(reasonOf(violations), `${found}${more}`, {
    metadata: { violations: String(violations.length) },
    violations: violations.map((violation) => ({
      field: violation.path === "" ? "definition" : `definition.${violation.path}`,
      reason: violation.reason,
      description: `${placeOf(violation)}${violation.message}`,
    })),
  });
}

/** The place of the violation for its author: line and column of the text, and the id of the node. */
function placeOf({ position, nodeId }: Violation): string {
  const line = position === undefined ? [] : [`line ${position.line}, column ${position.column}`];
  const place = [...line, ...(nodeId === "" ? [] : [`node ${nodeId}`])].join(", ");
  return place === "" ? "" : `${place}: `;
}

function reasonOf(violations: readonly Violation[]) {
  if (violations.some(({ reason }) => LIMIT_REASONS.has(reason))) return "LIMIT_EXCEEDED";
  const onlyCycle = violations.length > 0 && violations.every(({ reason }) => reason === "CYCLE");
  return onlyCycle ? "CYCLE_DETECTED" : "DEFINITION_INVALID";
}
