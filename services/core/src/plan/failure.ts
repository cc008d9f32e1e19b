// The fact a failure for good becomes, by the node's own error handling.

import type { NodeDefinition } from "../definition/shape.ts";
import type { EventPlace, Fact } from "../log/event.ts";

export interface Failure {
  readonly cause: string;
  readonly message: string;
  readonly detailsJson?: string;
  readonly durationMs: number;
  /** With the cause timeout: the limit that passed, where it is not the node's own. */
  readonly timeoutMs?: number;
}

/** node.failed or node.timed_out; with error handling `continue` node.completed by handle `error` (S3.33). */
export function failureFact(
  definition: Pick<NodeDefinition, "errorHandling" | "timeoutMs">,
  place: EventPlace,
  failure: Failure,
): Fact {
  const { cause, message, durationMs, detailsJson } = failure;
  if (definition.errorHandling === "continue") {
    const payload = { durationMs, handle: "error" };
    return { ...place, type: "node.completed", payload, value: errorJson(failure) };
  }
  const details = detailsJson === undefined ? {} : { value: detailsJson };
  if (cause === "timeout") {
    const payload = { timeoutMs: failure.timeoutMs ?? definition.timeoutMs };
    return { ...place, ...details, type: "node.timed_out", payload };
  }
  return { ...place, ...details, type: "node.failed", payload: { cause, message } };
}

/** The output of a node that failed and goes on by handle `error`. */
function errorJson({ cause, message, detailsJson }: Failure): string {
  const details = detailsJson === undefined ? "" : `,"details":${detailsJson}`;
  return `{"error":{"cause":${JSON.stringify(cause)},"message":${JSON.stringify(message)}${details}}}`;
}
