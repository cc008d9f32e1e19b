// What events say about failures and about the ends of runs, from the wire. The log has a class only if it is not that of the cause.

import { classField } from "@pawl/core/fault/cause";
import type { Compensated, Ending } from "@pawl/core/log/event";
import type { Payloads } from "@pawl/core/log/event-table";
import { nodeId } from "@pawl/core/name/ids";
import type { NodeFailed, NodeTimedOut, RunEnding, RunFailed } from "@pawl/proto/pawl/v1/event_pb";
import type { Compensation, FailureClass } from "@pawl/proto/pawl/v1/run_pb";
import { usageOf } from "./budget.ts";
import { named } from "./given.ts";
import { failureClassName, runStatusName, stopOf } from "./status.ts";

export function nodeFailedOf(fact: NodeFailed): Payloads["node.failed"] {
  const { cause, message, usage, signalRequestId, failureClass } = fact;
  const why = { cause, message, ...classed(cause, failureClass) };
  return { ...why, ...usageOf(usage), ...named("signal", signalRequestId) };
}

export const timedOutOf = ({
  timeoutMs,
  message,
  usage,
}: NodeTimedOut): Payloads["node.timed_out"] => ({
  timeoutMs: Number(timeoutMs),
  ...named("message", message),
  ...usageOf(usage),
});

export function runFailedOf({
  failedNodeId,
  message,
  cause,
  failureClass,
  compensation,
}: RunFailed): Payloads["run.failed"] {
  const why = { ...named("cause", cause), ...classed(cause, failureClass) };
  return { failedNodeId, message, ...why, ...compensatedOf(compensation) };
}

/** The class, if it is not that of the cause. */
const classed = (cause: string, wire: FailureClass) =>
  classField(cause, failureClassName(wire) === "permanent");

/** The wire has no deadline and no request id of an end that waits: the end event has them. */
export function endingOf(ending: RunEnding): Ending {
  const { status, message, cause, failedNodeId, stop, failureClass } = ending;
  const end = runStatusName(status);
  const why = { ...named("cause", cause), ...classed(cause, failureClass) };
  if (end === "failed") return { end, failedNodeId, message, ...why };
  if (end === "timeout") return { end, deadlineAt: 0 };
  return { end: "cancelled", reason: message, requestId: "", ...stopOf(stop) };
}

export function compensatedOf(compensation: Compensation | undefined): Compensated {
  if (compensation === undefined) return {};
  const { undone, left, notUndone } = compensation;
  const names = notUndone.map(({ nodeId: id, iteration, message: why }) => ({
    nodeId: nodeId(id),
    iteration,
    why,
  }));
  return { compensation: { undone, left, named: names } };
}
