// An event of the log as clients see it. The table has a row for every event type, and a new type does not compile until it has one.

import { create } from "@bufbuild/protobuf";
import { causeOf } from "@pawl/core/log/cause";
import type { EventType, FactOf, RunEvent, Usage } from "@pawl/core/log/event";
import {
  ContractViolatedSchema,
  CorrelationSchema,
  HeartbeatSchema,
  LimitSchema,
  ModerationFlaggedSchema,
  NodeBlockedSchema,
  NodeCancelledSchema,
  NodeCompletedSchema,
  NodeExpandedSchema,
  NodeDecidedSchema,
  NodeFailedSchema,
  NodeInvalidatedSchema,
  NodeLogSchema,
  NodeQueuedSchema,
  NodeRetriedSchema,
  NodeSkippedSchema,
  NodeStartedSchema,
  NodeStreamDeltaSchema,
  NodeTimedOutSchema,
  RunCancelledSchema,
  RunCompletedSchema,
  RunEventSchema,
  RunFailedSchema,
  RunMetadataSetSchema,
  RunRecoveredSchema,
  RunStartedSchema,
  RunStatusChangedSchema,
  RunTimedOutSchema,
  type RunEvent as WireEvent,
} from "@pawl/proto/pawl/v1/event_pb";
import { APPROVAL, HEARTBEAT } from "@pawl/core/log/event";
import type { Limits } from "@pawl/core/policy/limit";
import { toWireScope } from "./pause.ts";
import { toJsonBytes, toTimestamp } from "./scalar.ts";
import { toWireRunKind, toWireRunStatus } from "./status.ts";

/** The data that all events of one run share, looked up once per run and not once per event. */
export interface EventScope {
  /** Empty for a test run. */
  readonly workflowId: string;
  /** 32 hex digits, or empty if the start was not traced. */
  readonly traceId: string;
  /** Topological depth of a node; 0 for the empty id and for unknown nodes. */
  readonly waveOf: (nodeId: string) => number;
}

type WireFact = WireEvent["fact"];
type FactTable = { readonly [T in EventType]: (fact: FactOf<T>) => WireFact };

const FACTS: FactTable = {
  "run.started": ({ payload, value }) => ({
    case: "runStarted",
    value: create(RunStartedSchema, {
      inputJson: toJsonBytes(value),
      definitionDigest: payload.definitionDigest,
      workflowVersion: payload.workflowVersion,
      kind: toWireRunKind(payload.kind),
      deadlineTime: toTimestamp(payload.deadlineAt),
      idempotencyKey: payload.inputKey ?? "",
      ...(payload.schedule === undefined
        ? {}
        : {
            scheduleId: payload.schedule.scheduleId,
            scheduleTime: toTimestamp(payload.schedule.at),
          }),
      ...toWireLimits(payload),
    }),
  }),
  "run.status.changed": ({ payload }) => ({
    case: "runStatusChanged",
    value: create(RunStatusChangedSchema, {
      from: toWireRunStatus(payload.from),
      to: toWireRunStatus(payload.to),
      ...(payload.deadlineAt === undefined
        ? {}
        : { deadlineTime: toTimestamp(payload.deadlineAt) }),
      scope: toWireScope(payload.scope),
      by: payload.who ?? "",
      reason: payload.reason ?? "",
    }),
  }),
  "run.completed": ({ payload, value }) => ({
    case: "runCompleted",
    value: create(RunCompletedSchema, {
      outputJson: toJsonBytes(value),
      hasFailures: payload.hasFailures,
    }),
  }),
  "run.failed": ({ payload }) => ({
    case: "runFailed",
    value: create(RunFailedSchema, {
      failedNodeId: payload.failedNodeId,
      message: payload.message,
    }),
  }),
  "run.cancelled": ({ payload }) => ({
    case: "runCancelled",
    value: create(RunCancelledSchema, { reason: payload.reason }),
  }),
  "run.timed_out": ({ payload }) => ({
    case: "runTimedOut",
    value: create(RunTimedOutSchema, { deadlineTime: toTimestamp(payload.deadlineAt) }),
  }),
  "run.recovered": ({ payload }) => ({
    case: "runRecovered",
    value: create(RunRecoveredSchema, {
      reason: payload.reason,
      executorId: payload.executorId,
      lostDeliveries: payload.lostDeliveries,
    }),
  }),
  "run.metadata.set": ({ value }) => ({
    case: "runMetadataSet",
    value: create(RunMetadataSetSchema, { metadataJson: toJsonBytes(value) }),
  }),
  "node.queued": ({ payload }) => ({
    case: "nodeQueued",
    value: create(NodeQueuedSchema, {
      ...(payload.notBefore === undefined ? {} : { notBeforeTime: toTimestamp(payload.notBefore) }),
      ...toWireLimits(payload),
    }),
  }),
  "node.started": ({ payload }) => ({
    case: "nodeStarted",
    value: create(NodeStartedSchema, { executorId: payload.executorId }),
  }),
  "node.expanded": ({ payload, value }) => ({
    case: "nodeExpanded",
    value: create(NodeExpandedSchema, { width: payload.width, itemsJson: toJsonBytes(value) }),
  }),
  "node.stream.delta": ({ payload }) => ({
    case: "nodeStreamDelta",
    value: create(NodeStreamDeltaSchema, {
      deltaIndex: payload.deltaIndex,
      text: payload.text,
      ...(payload.media === undefined ? {} : { media: payload.media }),
      cutBytes: BigInt(payload.cutBytes ?? 0),
    }),
  }),
  "node.log": ({ payload }) => ({
    case: "nodeLog",
    value: create(NodeLogSchema, {
      level: payload.level,
      message: payload.message,
      cutBytes: BigInt(payload.cutBytes ?? 0),
    }),
  }),
  "node.retried": ({ payload }) => ({
    case: "nodeRetried",
    value: create(NodeRetriedSchema, {
      cause: payload.cause,
      message: payload.message,
      delayMs: BigInt(payload.delayMs),
    }),
  }),
  "node.completed": ({ payload, value }) => ({
    case: "nodeCompleted",
    value: create(NodeCompletedSchema, {
      outputJson: toJsonBytes(value),
      handle: payload.handle ?? "",
      durationMs: toWholeMs(payload.durationMs),
      queueDelayMs: toWholeMs(payload.queueDelayMs ?? 0),
      ...(payload.usage === undefined ? {} : { usage: toWireUsage(payload.usage) }),
    }),
  }),
  "node.failed": ({ payload, value }) => ({
    case: "nodeFailed",
    value: create(NodeFailedSchema, {
      cause: payload.cause,
      message: payload.message,
      detailsJson: toJsonBytes(value),
    }),
  }),
  "node.cancelled": ({ payload }) => ({
    case: "nodeCancelled",
    value: create(NodeCancelledSchema, { reason: payload.reason }),
  }),
  "node.skipped": ({ payload }) => ({
    case: "nodeSkipped",
    value: create(NodeSkippedSchema, { reason: payload.reason }),
  }),
  "node.timed_out": ({ payload }) => ({
    case: "nodeTimedOut",
    value: create(NodeTimedOutSchema, { timeoutMs: toWholeMs(payload.timeoutMs) }),
  }),
  "node.blocked": (event) => ({ case: "nodeBlocked", value: toWireBlocked(event) }),
  "node.decided": ({ payload, value }) => ({
    case: "nodeDecided",
    value: create(NodeDecidedSchema, {
      decision: payload.decision,
      reason: payload.reason,
      comment: payload.comment,
      decidedBy: payload.decidedBy ?? "",
      approvalId: payload.approvalId ?? "",
      responseJson: toJsonBytes(value),
    }),
  }),
  "node.invalidated": ({ payload }) => ({
    case: "nodeInvalidated",
    value: create(NodeInvalidatedSchema, { reason: payload.reason }),
  }),
  "moderation.flagged": ({ payload, value }) => ({
    case: "moderationFlagged",
    value: create(ModerationFlaggedSchema, {
      phase: payload.phase,
      detailsJson: toJsonBytes(value),
    }),
  }),
  "contract.violated": ({ payload, value }) => ({
    case: "contractViolated",
    value: create(ContractViolatedSchema, {
      phase: payload.phase,
      errorsJson: toJsonBytes(value),
    }),
  }),
};

/** The slots that must be free before a start, with the keys filled in. */
const toWireLimits = ({ slot, rate }: Limits) => ({
  ...(slot === undefined ? {} : { slot: create(LimitSchema, slot) }),
  ...(rate === undefined
    ? {}
    : { rate: create(LimitSchema, { ...rate, perMs: BigInt(rate.perMs) }) }),
});

/** Watchers do not see a value that waits for a person, because the person must check it first. */
function toWireBlocked({ payload, at }: FactOf<"node.blocked"> & { readonly at?: number }) {
  const { reason, childRunId = "", phase = "", approval } = payload;
  const { message = "", assignees = [], deadlineMs } = (reason === APPROVAL && approval) || {};
  return create(NodeBlockedSchema, {
    reason,
    childRunId,
    phase,
    approvalId: approval?.approvalId ?? "",
    message,
    assignees: [...assignees],
    ...(deadlineMs === undefined || at === undefined
      ? {}
      : { deadlineTime: toTimestamp(at + deadlineMs) }),
  });
}

/** A uint64 on the wire; a handler may measure fractions of a millisecond. */
const toWholeMs = (ms: number): bigint => BigInt(Math.max(0, Math.round(ms)));

const toWireUsage = ({ inputTokens, outputTokens }: Usage) => ({
  inputTokens: BigInt(inputTokens),
  outputTokens: BigInt(outputTokens),
});

/** True for a type that this build has a fact for; a newer writer may have added others. */
const isKnownType = (type: string): type is EventType => Object.hasOwn(FACTS, type);

function toWireFact(event: RunEvent): WireFact {
  if (!isKnownType(event.type)) return { case: undefined };
  // The table pairs each type with its own fact; TypeScript cannot follow that through an index.
  const map = FACTS[event.type] as (fact: RunEvent) => WireFact;
  return map(event);
}

/** An event of the log as clients see it. A type that this build does not know keeps its name and has no fact. */
export function toWireEvent(event: RunEvent, scope: EventScope): WireEvent {
  return create(RunEventSchema, {
    eventId: BigInt(event.seq),
    runId: event.runId,
    workflowId: scope.workflowId,
    type: event.type,
    time: toTimestamp(event.at),
    correlation: create(CorrelationSchema, {
      traceId: scope.traceId,
      parentEventId: BigInt(causeOf(event)),
      wave: scope.waveOf(event.nodeId),
      phase: "engine",
    }),
    nodeId: event.nodeId,
    iteration: event.iteration,
    attempt: event.attempt,
    epoch: BigInt(event.epoch),
    fact: toWireFact(event),
  });
}

/** Keeps a silent stream open; it is not in the log and its event_id is 0. */
export function toWireHeartbeat(runId: string, atMs: number): WireEvent {
  return create(RunEventSchema, {
    runId,
    type: HEARTBEAT,
    time: toTimestamp(atMs),
    correlation: create(CorrelationSchema, { phase: "transport" }),
    fact: { case: "heartbeat", value: create(HeartbeatSchema) },
  });
}
