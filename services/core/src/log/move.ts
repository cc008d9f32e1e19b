// What moves any execution on its way, a node or an iteration alike: queued, claimed, lost, tried again, waiting, decided.

import { unreachable } from "../fault/invariant.ts";
import type { FactOf, LoggedFact } from "./event.ts";
import type { ExecutionState, HoldState } from "./state.ts";

/** A fact that moves an execution and settles nothing. */
export type MoveFact = Extract<
  LoggedFact,
  {
    readonly type:
      | "run.recovered"
      | "node.queued"
      | "node.started"
      | "node.retried"
      | "node.blocked"
      | "node.decided";
  }
>;

/** Moves an execution past `event`. */
export function move(execution: ExecutionState, event: MoveFact): void {
  switch (event.type) {
    case "node.queued":
      execution.status = "queued";
      execution.attempt = event.attempt;
      execution.notBefore = event.payload.notBefore;
      execution.slot ??= event.payload.slot;
      execution.rate ??= event.payload.rate;
      return;
    case "node.started":
      execution.status = "running";
      execution.attempt = event.attempt;
      // A fact that has not been told its seq yet carries epoch 0: the epoch is the seq.
      execution.epoch = event.epoch === 0 ? event.seq : event.epoch;
      execution.executorId = event.payload.executorId;
      execution.startedAt = event.at;
      execution.notBefore = undefined;
      return;
    case "run.recovered":
      execution.status = "retrying";
      execution.lostDeliveries = event.payload.lostDeliveries;
      return;
    case "node.retried":
      execution.status = "retrying";
      execution.message = event.payload.message;
      reported(execution, event.epoch);
      return;
    case "node.blocked":
      execution.status = "waiting";
      execution.message = event.payload.reason;
      execution.childRunId = event.payload.childRunId;
      execution.hold = holdOf(event);
      reported(execution, event.epoch);
      return;
    case "node.decided": {
      const { decision, requestId, approvalId } = event.payload;
      if (decision === "approve" && execution.hold?.ending.phase === "input")
        execution.isInputApproved = true;
      execution.decided = { decision, requestId, approvalId, response: event.value };
      execution.hold = undefined;
      return;
    }
    default:
      unreachable(event, "move");
  }
}

function holdOf(event: FactOf<"node.blocked"> & { readonly at: number }): HoldState | undefined {
  const { payload, epoch, value: output, at } = event;
  const { reason, childRunId: _childRunId, approval, phase, durationMs = 0, ...rest } = payload;
  if (phase === undefined) return undefined;
  const ending = { ...rest, phase, durationMs };
  const deadlineAt = approval?.deadlineMs === undefined ? undefined : at + approval.deadlineMs;
  return { reason, epoch, output, ending, approval, deadlineAt };
}

/** An executor ended the claim `epoch` itself; engine-made facts carry epoch 0. */
export function reported(execution: ExecutionState, epoch: number): void {
  if (epoch > 0) execution.reportedEpoch = epoch;
}
