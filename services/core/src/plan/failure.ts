// The fact of a failure that is not retried, by the node's own error handling.

import type { NodeDefinition } from "../definition/shape.ts";
import { classField, classOf, isCause, type CauseSpellings } from "../fault/cause.ts";
import type { EventPlace, Fact, Usage } from "../log/event.ts";
import type { Taint } from "../policy/taint.ts";
import { taintField } from "./label.ts";

export interface Failure {
  /** A `Cause`, or a cause that code of a user reported. */
  readonly cause: string;
  readonly message: string;
  /** No attempt can succeed: the handler says so, or Pawl does. */
  readonly permanent?: boolean;
  /** The attempts are used up: what to try next, for people. */
  readonly advice?: string | undefined;
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
  const { cause, durationMs, detailsJson, usage, permanent = false, advice } = failure;
  const used = { ...(usage === undefined ? {} : { usage }), ...taintField(failure.taint) };
  if (definition.errorHandling === "continue") {
    const payload = { durationMs, handle: "error", ...used };
    const value = errorJson(failure, definition.causeSpellings);
    return { ...place, type: "node.completed", payload, value };
  }
  const details = detailsJson === undefined ? {} : { value: detailsJson };
  const advised = (text: string) => (advice === undefined ? text : `${text} (${advice})`);
  if (cause === "timeout") {
    const timeoutMs = failure.timeoutMs ?? definition.timeoutMs;
    const message = advised(`timed out after ${timeoutMs} ms`);
    const payload = { timeoutMs, ...(advice === undefined ? {} : { message }), ...used };
    return { ...place, ...details, type: "node.timed_out", payload };
  }
  const message = advised(failure.message);
  const payload = { cause, ...classField(cause, permanent), message, ...used };
  return { ...place, ...details, type: "node.failed", payload };
}

/** The output of a node that failed and leaves by handle `error`. It spells the cause as its definition does. */
function errorJson(failure: Failure, old: CauseSpellings = {}): string {
  const { cause, message, detailsJson, permanent = false } = failure;
  const error = JSON.stringify({
    cause: isCause(cause) ? (old[cause] ?? cause) : cause,
    failure_class: classOf({ cause, ...classField(cause, permanent) }),
    message,
  });
  const details = detailsJson === undefined ? "" : `,"details":${detailsJson}`;
  return `{"error":${error.slice(0, -1)}${details}}}`;
}
