// What is heard on the work stream, read by hand: assignments, settled claims and plain outcomes, into the very objects that protobuf-es
// would make of them, names in its order. One of these that has something unusual about it is odd.

import type {
  Assignment,
  Claim,
  Completed,
  Outcome,
  SchedulerItem,
  Settled,
  WorkerItem,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { WireReader } from "./wire-reader.ts";
import {
  ASSIGNMENT,
  CLAIM,
  COMPLETED,
  OUTCOME,
  SCHEDULER_ITEM,
  SETTLED,
  WORKER_ITEM,
} from "./work-fields.ts";

/** Undefined for an item of another case. */
export function readSchedulerItem(reader: WireReader): SchedulerItem | undefined {
  const $typeName = "pawl.worker.v1.SchedulerItem";
  if (reader.isNext(SCHEDULER_ITEM.assignment))
    return { $typeName, item: { case: "assignment", value: readAssignment(reader) } };
  if (reader.isNext(SCHEDULER_ITEM.settled))
    return { $typeName, item: { case: "settled", value: readSettled(reader) } };
  return undefined;
}

export function readWorkerItem(reader: WireReader): WorkerItem | undefined {
  if (!reader.isNext(WORKER_ITEM.outcome)) return undefined;
  const item = { case: "outcome", value: readOutcome(reader) } as const;
  return { $typeName: "pawl.worker.v1.WorkerItem", item };
}

function readAssignment(reader: WireReader): Assignment {
  const outer = reader.enter(SCHEDULER_ITEM.assignment);
  const claim = readClaim(reader, ASSIGNMENT.claim);
  const assignment: Assignment = {
    $typeName: "pawl.worker.v1.Assignment",
    attempt: reader.uint32(ASSIGNMENT.attempt),
    nodeType: reader.text(ASSIGNMENT.nodeType),
    nodeJson: reader.bytes(ASSIGNMENT.nodeJson),
    contextJson: reader.bytes(ASSIGNMENT.contextJson),
    timeoutMs: reader.uint64(ASSIGNMENT.timeoutMs),
    traceparent: reader.text(ASSIGNMENT.traceparent),
    effectKey: reader.text(ASSIGNMENT.effectKey),
    workflowId: reader.text(ASSIGNMENT.workflowId),
    inputApproved: reader.bool(ASSIGNMENT.inputApproved),
    claim,
  };
  reader.leave(outer);
  return assignment;
}

function readSettled(reader: WireReader): Settled {
  const outer = reader.enter(SCHEDULER_ITEM.settled);
  const claim = readClaim(reader, SETTLED.claim);
  reader.leave(outer);
  return { $typeName: "pawl.worker.v1.Settled", claim };
}

function readOutcome(reader: WireReader): Outcome {
  const outer = reader.enter(WORKER_ITEM.outcome);
  const claim = readClaim(reader, OUTCOME.claim);
  const outcome: Outcome = {
    $typeName: "pawl.worker.v1.Outcome",
    durationMs: reader.uint64(OUTCOME.durationMs),
    result: { case: "completed", value: readCompleted(reader) },
    gates: [],
    claim,
  };
  reader.leave(outer);
  return outcome;
}

function readCompleted(reader: WireReader): Completed {
  const outer = reader.enter(OUTCOME.completed);
  const completed: Completed = {
    $typeName: "pawl.worker.v1.Completed",
    outputJson: reader.bytes(COMPLETED.outputJson),
    handle: reader.text(COMPLETED.handle),
    queueDelayMs: reader.uint64(COMPLETED.queueDelayMs),
    stop: reader.bool(COMPLETED.stop),
  };
  reader.leave(outer);
  return completed;
}

/** One without a claim is odd. */
function readClaim(reader: WireReader, tag: number): Claim {
  const outer = reader.enter(tag);
  const claim: Claim = {
    $typeName: "pawl.worker.v1.Claim",
    runId: reader.text(CLAIM.runId),
    nodeId: reader.text(CLAIM.nodeId),
    iteration: reader.uint32(CLAIM.iteration),
    epoch: reader.uint64(CLAIM.epoch),
  };
  reader.leave(outer);
  return claim;
}
