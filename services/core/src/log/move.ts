// Folds an event into one execution, which is a node or an iteration: queued, claimed, lost, retried, waiting, decided, settled.

import { TAINT_HOLD, type FactOf, type LoggedFact } from "./event.ts";
import { endsInline, failureOf, nodeStatusAfter, reasonText } from "./meaning.ts";
import type { ExecutionState } from "./state.ts";
import type { HoldState } from "./wait-state.ts";

/** Moves an execution past an event that does not settle it. The event table gives the status. */
export function move(execution: ExecutionState, event: LoggedFact): void {
  execution.status = nodeStatusAfter(event.type) ?? execution.status;
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- other types change only the status
  switch (event.type) {
    case "node.queued":
      execution.attempt = event.attempt;
      execution.notBefore = event.payload.notBefore;
      execution.slot ??= event.payload.slot;
      execution.rate ??= event.payload.rate;
      return;
    case "node.started":
      execution.attempt = event.attempt;
      // A fact that has no seq yet carries epoch 0: the epoch is the seq.
      execution.epoch = event.epoch === 0 ? event.seq : event.epoch;
      execution.executorId = event.payload.executorId;
      execution.startedAt = event.at;
      execution.notBefore = undefined;
      execution.readTaint = event.payload.taint;
      return;
    case "run.recovered":
      execution.lostDeliveries = event.payload.lostDeliveries;
      return;
    case "node.blocked":
      execution.childRunId = event.payload.childRunId;
      execution.childCompensates = event.payload.compensates === true;
      execution.hold = holdOf(event);
      execution.wait = waitOf(event);
      break;
    case "node.decided":
      decide(execution, event);
      return;
    default:
  }
  execution.message = reasonText(event) ?? execution.message;
  reported(execution, event.epoch);
}

/** Moves an execution past the event that settles it. */
export function leave(execution: ExecutionState, event: LoggedFact): void {
  execution.status = nodeStatusAfter(event.type) ?? execution.status;
  execution.message = reasonText(event);
  execution.failure = failureOf(event);
  execution.settledAt = event.at;
  execution.notBefore = undefined;
  execution.childRunId = undefined;
  execution.childCompensates = false;
  execution.hold = undefined;
  execution.wait = undefined;
  reported(execution, event.epoch);
}

function decide(execution: ExecutionState, { payload, value }: FactOf<"node.decided">): void {
  const { decision, requestId, approvalId, dropped } = payload;
  const { reason, ending } = execution.hold ?? {};
  // A person who releases labelled data has not moderated it.
  if (decision === "approve" && ending?.phase === "input" && reason !== TAINT_HOLD)
    execution.isInputApproved = true;
  if (dropped !== undefined) execution.dropped = [...(execution.dropped ?? []), ...dropped];
  execution.decided = { decision, requestId, approvalId, response: value };
  execution.hold = undefined;
}

/**
 * The scheduler completed the execution itself, so no executor claimed it: the event that ends it also begins it. Returns whether `event`
 * is such an end.
 */
export function beginInline(execution: ExecutionState, event: LoggedFact): boolean {
  if (!endsInline(event)) return false;
  execution.attempt = event.attempt;
  execution.startedAt ??= event.at;
  return true;
}

function holdOf(event: FactOf<"node.blocked"> & { readonly at: number }): HoldState | undefined {
  const { payload, epoch, value: output, at } = event;
  const { reason, childRunId: _childRunId, approval, signal: _signal, ...ends } = payload;
  const { phase, durationMs = 0, ...rest } = ends;
  if (phase === undefined) return undefined;
  const ending = { ...rest, phase, durationMs };
  const deadlineAt = approval?.deadlineMs === undefined ? undefined : at + approval.deadlineMs;
  return { reason, epoch, output, ending, approval, deadlineAt };
}

function waitOf({ payload, at }: FactOf<"node.blocked"> & { readonly at: number }) {
  const { signal } = payload;
  if (signal === undefined) return undefined;
  const { name, timeoutMs } = signal;
  return { name, since: at, deadlineAt: timeoutMs === undefined ? undefined : at + timeoutMs };
}

/** The executor itself ended the claim `epoch`. A fact of the scheduler carries epoch 0. */
function reported(execution: ExecutionState, epoch: number): void {
  if (epoch > 0) execution.reportedEpoch = epoch;
}
