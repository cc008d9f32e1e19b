// The fact of a failure that is not retried, by the node's own error handling.

import type { NodeDefinition } from "../definition/shape.ts";
import { isCause, type CauseSpellings } from "../fault/cause.ts";
import type { EventPlace, Fact, Usage } from "../log/event.ts";
import type { Taint } from "../policy/taint.ts";
import { taintField } from "./label.ts";

export interface Failure {
  /** A `Cause`, or a cause that code of a user reported. */
  readonly cause: string;
  readonly message: string;
  readonly detailsJson?: string;
  readonly durationMs: number;
  /** With the cause timeout: the limit that passed, if it is not the node's own. */
  readonly timeoutMs?: number;
  /** The labels of the data from which the failure was made: its message may quote them. */
  readonly taint?: Taint | undefined;
  readonly usage?: Usage;
}

/** node.failed or node.timed_out. With error handling `continue` it is node.completed by handle `error`. */
export function failureFact(
  definition: Pick<NodeDefinition, "errorHandling" | "timeoutMs" | "causeSpellings">,
  place: EventPlace,
  failure: Failure,
): Fact {
  const { cause, message, durationMs, detailsJson, usage } = failure;
  const used = usage === undefined ? {} : { usage };
  if (definition.errorHandling === "continue") {
    const payload = { durationMs, handle: "error", ...used, ...taintField(failure.taint) };
    const value = errorJson(failure, definition.causeSpellings);
    return { ...place, type: "node.completed", payload, value };
  }
  const details = detailsJson === undefined ? {} : { value: detailsJson };
  if (cause === "timeout") {
    const payload = { timeoutMs: failure.timeoutMs ?? definition.timeoutMs, ...used };
    return { ...place, ...details, type: "node.timed_out", payload };
  }
  return { ...place, ...details, type: "node.failed", payload: { cause, message, ...used } };
}

/** The output of a node that failed and leaves by handle `error`. It spells the cause as its definition does. */
function errorJson({ cause, message, detailsJson }: Failure, old: CauseSpellings = {}): string {
  const error = JSON.stringify({ cause: isCause(cause) ? (old[cause] ?? cause) : cause, message });
  const details = detailsJson === undefined ? "" : `,"details":${detailsJson}`;
  return `{"error":${error.slice(0, -1)}${details}}}`;
}
