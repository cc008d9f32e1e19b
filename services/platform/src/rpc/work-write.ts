// What is said on the work stream, written by hand: assignments, settled claims and plain outcomes, straight from init objects or from
// whole messages. Every other item is odd, and so is one of these that has something unusual about it.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  AssignmentSchema,
  ClaimSchema,
  CompletedSchema,
  OutcomeSchema,
  SchedulerItemSchema,
  SettledSchema,
  WorkerItemSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { widthOf, type WireWriter } from "./wire-writer.ts";
import {
  ASSIGNMENT,
  CLAIM,
  COMPLETED,
  MESSAGE,
  OUTCOME,
  SCHEDULER_ITEM,
  SETTLED,
  WORKER_ITEM,
} from "./work-fields.ts";

/** What an assignment and an outcome take besides JSON, about: for the width of their lengths, which may be guessed wrong. */
const ASSIGNMENT_BYTES = 150;
const OUTCOME_BYTES = 70;
/** The width of a claim's length, unless its node has a very long name. */
const CLAIM_WIDTH = 1;

export function writeSchedulerItem(
  writer: WireWriter,
  message: MessageInitShape<typeof SchedulerItemSchema>,
): void {
  checkUnknown(writer, message);
  const { item } = message;
  if (item?.case === "assignment") writeAssignment(writer, item.value);
  else if (item?.case === "settled") writeSettled(writer, item.value);
  else writer.isOdd = true;
}

export function writeWorkerItem(
  writer: WireWriter,
  message: MessageInitShape<typeof WorkerItemSchema>,
): void {
  checkUnknown(writer, message);
  const { item } = message;
  if (item?.case === "outcome") writeOutcome(writer, item.value);
  else writer.isOdd = true;
}

function writeAssignment(
  writer: WireWriter,
  value: MessageInitShape<typeof AssignmentSchema>,
): void {
  checkUnknown(writer, value);
  const { nodeJson, contextJson } = value;
  const width = widthOf(ASSIGNMENT_BYTES + lengthOf(nodeJson) + lengthOf(contextJson));
  const item = writer.open(MESSAGE.items, width);
  const assignment = writer.open(SCHEDULER_ITEM.assignment, width);
  writeClaim(writer, ASSIGNMENT.claim, value.claim);
  writer.uint32(ASSIGNMENT.attempt, value.attempt);
  writer.text(ASSIGNMENT.nodeType, value.nodeType);
  writer.bytes(ASSIGNMENT.nodeJson, nodeJson);
  writer.bytes(ASSIGNMENT.contextJson, contextJson);
  writer.uint64(ASSIGNMENT.timeoutMs, value.timeoutMs);
  writer.text(ASSIGNMENT.traceparent, value.traceparent);
  writer.text(ASSIGNMENT.effectKey, value.effectKey);
  writer.text(ASSIGNMENT.workflowId, value.workflowId);
  writer.bool(ASSIGNMENT.inputApproved, value.inputApproved);
  writer.close(assignment, width);
  writer.close(item, width);
}

function writeSettled(writer: WireWriter, value: MessageInitShape<typeof SettledSchema>): void {
  checkUnknown(writer, value);
  const item = writer.open(MESSAGE.items, CLAIM_WIDTH);
  const settled = writer.open(SCHEDULER_ITEM.settled, CLAIM_WIDTH);
  writeClaim(writer, SETTLED.claim, value.claim);
  writer.close(settled, CLAIM_WIDTH);
  writer.close(item, CLAIM_WIDTH);
}

function writeOutcome(writer: WireWriter, value: MessageInitShape<typeof OutcomeSchema>): void {
  checkUnknown(writer, value);
  const { result, gates } = value;
  if (result?.case !== "completed" || (gates !== undefined && gates.length > 0)) {
    writer.isOdd = true;
    return;
  }
  const width = widthOf(OUTCOME_BYTES + lengthOf(result.value.outputJson));
  const item = writer.open(MESSAGE.items, width);
  const outcome = writer.open(WORKER_ITEM.outcome, width);
  writeClaim(writer, OUTCOME.claim, value.claim);
  writer.uint64(OUTCOME.durationMs, value.durationMs);
  writeCompleted(writer, OUTCOME.completed, result.value);
  writer.close(outcome, width);
  writer.close(item, width);
}

function writeCompleted(
  writer: WireWriter,
  tag: number,
  value: MessageInitShape<typeof CompletedSchema>,
): void {
  checkUnknown(writer, value);
  if (value.usage !== undefined) writer.isOdd = true;
  const width = widthOf(lengthOf(value.outputJson));
  const completed = writer.open(tag, width);
  writer.bytes(COMPLETED.outputJson, value.outputJson);
  writer.text(COMPLETED.handle, value.handle);
  writer.uint64(COMPLETED.queueDelayMs, value.queueDelayMs);
  writer.bool(COMPLETED.stop, value.stop);
  writer.close(completed, width);
}

function writeClaim(
  writer: WireWriter,
  tag: number,
  value: MessageInitShape<typeof ClaimSchema> | undefined,
): void {
  if (value === undefined) return;
  checkUnknown(writer, value);
  const claim = writer.open(tag, CLAIM_WIDTH);
  writer.text(CLAIM.runId, value.runId);
  writer.text(CLAIM.nodeId, value.nodeId);
  writer.uint32(CLAIM.iteration, value.iteration);
  writer.uint64(CLAIM.epoch, value.epoch);
  writer.close(claim, CLAIM_WIDTH);
}

/** Fields that another build knows are kept with a message that was read, and go on with it. */
function checkUnknown(writer: WireWriter, message: object): void {
  if ("$unknown" in message) writer.isOdd = true;
}

const lengthOf = (bytes: Uint8Array | undefined): number => bytes?.length ?? 0;
