// An event of the log in the form that clients get. The table has a row for every event type, and a new type does not compile until it has
// one.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { causeOf } from "@pawl/core/log/cause";
import { APPROVAL, HEARTBEAT, TAINT_HOLD } from "@pawl/core/log/event";
import type { EventType, FactOf, RunEvent } from "@pawl/core/log/event";
import { toUsageShape } from "@pawl/core/log/usage-shape";
import type { Limits } from "@pawl/core/policy/limit";
import type { Taint } from "@pawl/core/policy/taint";
import { RunEventSchema, type RunEvent as WireEvent } from "@pawl/proto/pawl/v1/event_pb";
import { toWireLinks } from "./assistant.ts";
import { toWireCompensated, toWireEnding } from "./compensation.ts";
import { toWireAmounts, toWireBudget } from "./budget.ts";
import { toWireScope } from "./pause.ts";
import { toJsonBytes, toTimestamp, toTimestampOrNone, toWholeMs } from "./scalar.ts";
import { toWireRunKind, toWireRunStatus } from "./enum.ts";
import {
  toWireFailed,
  toWireRetried,
  toWireRunCancelled,
  toWireRunFailed,
  toWireRunTimedOut,
  toWireTimedOut,
} from "./failure.ts";
import { toWireKeyTaints } from "./key-taint.ts";

/** The data that all events of one run share, looked up once per run and not once per event. */
export interface EventScope {
  /** Empty for a test run. */
  readonly workflowId: string;
  /** 32 hex digits, or empty if the start was not traced. */
  readonly traceId: string;
  /** Topological depth of a node. 0 for the empty id and for unknown nodes. */
  readonly waveOf: (nodeId: string) => number;
}

type WireFact = NonNullable<MessageInitShape<typeof RunEventSchema>["fact"]>;
/** The case of a type in the contract: `run.timed_out` is `runTimedOut`. */
type CaseOf<Type extends string> = Type extends `${infer Head}${"." | "_"}${infer Tail}`
  ? `${Head}${Capitalize<CaseOf<Tail>>}`
  : Type;
type FactTable = {
  readonly [T in EventType]: (
    fact: FactOf<T>,
  ) => Extract<WireFact, { readonly case: CaseOf<T> }>["value"];
};

const FACTS: FactTable = {
  "run.started": ({ payload, value }) => ({
    inputJson: toJsonBytes(value),
    definitionDigest: payload.definitionDigest,
    workflowVersion: payload.workflowVersion,
    kind: toWireRunKind(payload.kind),
    deadlineTime: toTimestamp(payload.deadlineAt),
    idempotencyKey: payload.inputKey ?? "",
    maxIterations: payload.maxIterations ?? 0,
    maxRetries: payload.maxRetries,
    goal: payload.goal ?? "",
    constraints: [...(payload.constraints ?? [])],
    budget: payload.budget && toWireBudget(payload.budget),
    scheduleId: payload.schedule?.scheduleId ?? "",
    scheduleTime: toTimestampOrNone(payload.schedule?.at),
    ...{ ...toWireLinks(payload), startAt: toTimestampOrNone(payload.startAt) },
    ...toWireTaint(payload),
    repairOf: payload.repair?.runId ?? "",
    planDigest: payload.repair?.planDigest ?? "",
    undoesRunId: payload.undoes?.runId ?? "",
    undoesNodeId: payload.undoes?.nodeId ?? "",
    undoesIteration: payload.undoes?.iteration ?? 0,
    ...toWireLimits(payload),
    dailyBudget: payload.daily && toWireAmounts(payload.daily),
  }),
  "run.thread.taken": ({ payload: { threadId, fromRunId = "", taint = {} }, value }) => ({
    threadId,
    fromRunId,
    memoryJson: toJsonBytes(value),
    taint: toWireKeyTaints(taint),
  }),
  "run.status.changed": ({ payload }) => ({
    from: toWireRunStatus(payload.from),
    to: toWireRunStatus(payload.to),
    deadlineTime: toTimestampOrNone(payload.deadlineAt),
    scope: toWireScope(payload.scope),
    by: payload.who ?? "",
    reason: payload.reason ?? "",
    ending: toWireEnding(payload.ending),
    waitingFor: payload.waitingFor ?? "",
    budgetDay: payload.dayFunds?.day ?? "",
    budgetReserved: payload.dayFunds && toWireAmounts(payload.dayFunds.reserved),
  }),
  "run.completed": ({ payload, value }) => ({
    outputJson: toJsonBytes(value),
    hasFailures: payload.hasFailures,
    ...toWireTaint(payload),
    compensation: toWireCompensated(payload),
  }),
  "run.failed": toWireRunFailed,
  "run.cancelled": toWireRunCancelled,
  "run.timed_out": toWireRunTimedOut,
  "run.recovered": ({ payload: { reason, executorId, lostDeliveries, awaitsBudget = false } }) => ({
    reason,
    executorId,
    lostDeliveries,
    awaitsBudget,
  }),
  "run.budget.raised": ({ payload: { requestId, who, reason, ...amounts } }) => ({
    amounts: toWireAmounts(amounts),
    by: who,
    reason,
    requestId,
  }),
  "run.signalled": ({ payload: { name, requestId }, value }) => ({
    name,
    payloadJson: toJsonBytes(value),
    requestId,
  }),
  "run.metadata.set": ({ value }) => ({ metadataJson: toJsonBytes(value) }),
  "node.queued": ({ payload }) => ({
    notBeforeTime: toTimestampOrNone(payload.notBefore),
    reserved: payload.reserved && toWireAmounts(payload.reserved),
    ...toWireLimits(payload),
  }),
  "node.started": ({ payload: { executorId, taint } }) => ({
    executorId,
    ...toWireTaint({ taint }),
  }),
  "node.expanded": ({ payload: { width, taint }, value }) => ({
    width,
    itemsJson: toJsonBytes(value),
    ...toWireTaint({ taint }),
  }),
  "node.stream.delta": ({ payload: { deltaIndex, text, media, cutBytes = 0 } }) => ({
    deltaIndex,
    text,
    media,
    cutBytes: BigInt(cutBytes),
  }),
  "node.log": ({ payload: { level, message, cutBytes = 0 } }) => ({
    level,
    message,
    cutBytes: BigInt(cutBytes),
  }),
  "node.retried": toWireRetried,
  "node.completed": toWireCompleted,
  "node.failed": toWireFailed,
  "node.cancelled": ({ payload: { reason } }) => ({ reason }),
  "node.skipped": ({ payload: { reason } }) => ({ reason }),
  "node.timed_out": toWireTimedOut,
  "node.blocked": toWireBlocked,
  "node.decided": ({ payload, value }) => ({
    decision: payload.decision,
    reason: payload.reason,
    comment: payload.comment,
    decidedBy: payload.decidedBy ?? "",
    approvalId: payload.approvalId ?? "",
    responseJson: toJsonBytes(value),
    dropped: [...(payload.dropped ?? [])],
    awaitsBudget: payload.awaitsBudget ?? false,
  }),
  "node.invalidated": ({ payload: { reason } }) => ({ reason }),
  "memory.updated": ({ payload: { keys, replaced = [], taint = {} }, value }) => ({
    valuesJson: toJsonBytes(value),
    keys: [...keys],
    replaced: [...replaced],
    taint: toWireKeyTaints(taint),
  }),
  "moderation.flagged": ({ payload: { phase }, value }) => ({
    phase,
    detailsJson: toJsonBytes(value),
  }),
  "contract.violated": ({ payload: { phase }, value }) => ({
    phase,
    errorsJson: toJsonBytes(value),
  }),
};

function toWireCompleted({ payload, value }: FactOf<"node.completed">) {
  const { handle = "", durationMs, queueDelayMs = 0, usage, goto, sanitized } = payload;
  const { calls = [], signal = "", set } = payload;
  return {
    outputJson: toJsonBytes(value),
    handle,
    durationMs: toWholeMs(durationMs),
    queueDelayMs: toWholeMs(queueDelayMs),
    usage: usage && toUsageShape(usage),
    goto,
    sanitized: sanitized && { labels: [...sanitized.labels], reason: sanitized.reason },
    ...toWireTaint(payload),
    ...(set && { setBy: { by: set.who, reason: set.reason } }),
    calls: calls.map(({ id, name, fault = "" }) => ({ id, name, fault })),
    signalRequestId: signal,
  };
}

/** The labels of a value. */
const toWireTaint = ({ taint }: { readonly taint?: Taint | undefined }) => ({
  taint: [...(taint ?? [])],
});

/** The slots that must be free before a start, with the keys filled in. */
const toWireLimits = ({ slot, rate }: Limits) => ({
  slot,
  rate: rate && { ...rate, perMs: BigInt(rate.perMs) },
});

/** Watchers do not see a value that waits for a person, because the person must check it first. */
function toWireBlocked({ payload, at }: FactOf<"node.blocked"> & { readonly at?: number }) {
  const { reason, childRunId = "", phase = "", approval, usage, reserved, signal } = payload;
  const { taint } = payload;
  const asked = reason === APPROVAL || reason === TAINT_HOLD ? approval : undefined;
  const { message = "", assignees = [] } = asked ?? {};
  const deadlineMs = asked?.deadlineMs ?? signal?.timeoutMs;
  return {
    reason,
    childRunId,
    phase,
    approvalId: approval?.approvalId ?? "",
    message,
    assignees: [...assignees],
    signal: signal?.name ?? "",
    usage: usage && toUsageShape(usage),
    reserved: reserved && toWireAmounts(reserved),
    deadlineTime:
      deadlineMs === undefined || at === undefined ? undefined : toTimestamp(at + deadlineMs),
    ...toWireTaint({ taint }),
  };
}

const CASES: ReadonlyMap<string, string> = new Map(
  Object.keys(FACTS).map((type) => [
    type,
    type.replace(/[._](.)/g, (_, letter: string) => letter.toUpperCase()),
  ]),
);

/** A newer writer may have added types that this build does not know. Such an event has no fact. */
function toWireFact(event: RunEvent): WireFact {
  const name = CASES.get(event.type);
  if (name === undefined) return { case: undefined };
  // The table pairs each type with its own fact and case. TypeScript cannot follow that through an index.
  const valueOf = FACTS[event.type] as (fact: RunEvent) => unknown;
  return { case: name, value: valueOf(event) } as WireFact;
}

/** An event of the log as clients see it. A type that this build does not know keeps its name and has no fact. */
export function toWireEvent(event: RunEvent, scope: EventScope): WireEvent {
  return create(RunEventSchema, {
    eventId: BigInt(event.seq),
    runId: event.runId,
    workflowId: scope.workflowId,
    type: event.type,
    time: toTimestamp(event.at),
    correlation: {
      traceId: scope.traceId,
      parentEventId: BigInt(causeOf(event)),
      wave: scope.waveOf(event.nodeId),
      phase: "engine",
    },
    nodeId: event.nodeId,
    iteration: event.iteration,
    attempt: event.attempt,
    epoch: BigInt(event.epoch),
    reusedEventId: BigInt(event.payload.reused ?? 0),
    fact: toWireFact(event),
  });
}

/** A heartbeat keeps a silent stream open. It is not in the log and its event_id is 0. */
export function toWireHeartbeat(runId: string, atMs: number): WireEvent {
  return create(RunEventSchema, {
    runId,
    type: HEARTBEAT,
    time: toTimestamp(atMs),
    correlation: { phase: "transport" },
    fact: { case: "heartbeat", value: {} },
  });
}
