// The fact a failure for good becomes, by the node's own error handling.

import type { NodeDefinition } from "../definition/shape.ts";
import { isCause, type CauseSpellings } from "../fault/cause.ts";
import type { EventPlace, Fact } from "../log/event.ts";

export interface Failure {
  /** A `Cause` of Pawl's own, or one that code of a user reported. */
  readonly cause: string;
  readonly message: string;
  readonly detailsJson?: string;
  readonly durationMs: number;
  /** With the cause timeout: the limit that passed, where it is not the node's own. */
  readonly timeoutMs?: number;
}

/** node.failed or node.timed_out; with error handling `continue` node.completed by handle `error`. */
export function failureFact(
  definition: Pick<NodeDefinition, "errorHandling" | "timeoutMs" | "causeSpellings">,
  place: EventPlace,
  failure: Failure,
): Fact {
  const { cause, message, durationMs, detailsJson } = failure;
  if (definition.errorHandling === "continue") {
    const payload = { durationMs, handle: "error" };
    return {
      ...place,
      type: "node.completed",
      payload,
      value: errorJson(failure, definition.causeSpellings),
    };
  }
  const details = detailsJson === undefined ? {} : { value: detailsJson };
  if (cause === "timeout") {
    const payload = { timeoutMs: failure.timeoutMs ?? definition.timeoutMs };
    return { ...place, ...details, type: "node.timed_out", payload };
  }
  return { ...place, ...details, type: "node.failed", payload: { cause, message } };
}

/** The output of a node that failed and leaves by handle `error`, with the cause spelled as its definition compares with it. */
function errorJson(
  { cause, message, detailsJson }: Failure,
  spellings: CauseSpellings = {},
): string {
  const spelled = isCause(cause) ? (spellings[cause] ?? cause) : cause;
  const details = detailsJson === undefined ? "" : `,"details":${detailsJson}`;
  return `{"error":{"cause":${JSON.stringify(spelled)},"message":${JSON.stringify(message)}${details}}}`;
}
