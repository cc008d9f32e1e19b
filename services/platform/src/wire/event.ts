// An event of the log in the form that clients get. The table has a row for every event type, and a new type does not compile until it has
// one.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { causeOf } from "@pawl/core/log/cause";
import { APPROVAL, HEARTBEAT } from "@pawl/core/log/event";
import type { EventType, FactOf, RunEvent } from "@pawl/core/log/event";
import type { Limits } from "@pawl/core/policy/limit";
import { RunEventSchema, type RunEvent as WireEvent } from "@pawl/proto/pawl/v1/event_pb";
import { toWireScope } from "./pause.ts";
import { toJsonBytes, toTimestamp, toTimestampOrNone } from "./scalar.ts";
import { toWireRunKind, toWireRunStatus } from "./enum.ts";

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
    scheduleId: payload.schedule?.scheduleId ?? "",
    scheduleTime: toTimestampOrNone(payload.schedule?.at),
    ...toWireLimits(payload),
  }),
  "run.status.changed": ({ payload: { from, to, deadlineAt, scope, who = "", reason = "" } }) => ({
    from: toWireRunStatus(from),
    to: toWireRunStatus(to),
    deadlineTime: toTimestampOrNone(deadlineAt),
    scope: toWireScope(scope),
    by: who,
    reason,
  }),
  "run.completed": ({ payload: { hasFailures }, value }) => ({
    outputJson: toJsonBytes(value),
    hasFailures,
  }),
  "run.failed": ({ payload: { failedNodeId, message, cause = "" } }) => ({
    failedNodeId,
    message,
    cause,
  }),
  "run.cancelled": ({ payload: { reason } }) => ({ reason }),
  "run.timed_out": ({ payload }) => ({ deadlineTime: toTimestamp(payload.deadlineAt) }),
  "run.recovered": ({ payload: { reason, executorId, lostDeliveries } }) => ({
    reason,
    executorId,
    lostDeliveries,
  }),
  "run.metadata.set": ({ value }) => ({ metadataJson: toJsonBytes(value) }),
  "node.queued": ({ payload }) => ({
    notBeforeTime: toTimestampOrNone(payload.notBefore),
    ...toWireLimits(payload),
  }),
  "node.started": ({ payload: { executorId } }) => ({ executorId }),
  "node.expanded": ({ payload: { width }, value }) => ({ width, itemsJson: toJsonBytes(value) }),
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
  "node.retried": ({ payload: { cause, message, delayMs } }) => ({
    cause,
    message,
    delayMs: BigInt(delayMs),
  }),
  "node.completed": ({
    payload: { handle = "", durationMs, queueDelayMs = 0, usage, goto },
    value,
  }) => ({
    outputJson: toJsonBytes(value),
    handle,
    durationMs: toWholeMs(durationMs),
    queueDelayMs: toWholeMs(queueDelayMs),
    usage: usage && {
      inputTokens: BigInt(usage.inputTokens),
      outputTokens: BigInt(usage.outputTokens),
    },
    goto,
  }),
  "node.failed": ({ payload: { cause, message }, value }) => ({
    cause,
    message,
    detailsJson: toJsonBytes(value),
  }),
  "node.cancelled": ({ payload: { reason } }) => ({ reason }),
  "node.skipped": ({ payload: { reason } }) => ({ reason }),
  "node.timed_out": ({ payload }) => ({ timeoutMs: toWholeMs(payload.timeoutMs) }),
  "node.blocked": toWireBlocked,
  "node.decided": ({ payload, value }) => ({
    decision: payload.decision,
    reason: payload.reason,
    comment: payload.comment,
    decidedBy: payload.decidedBy ?? "",
    approvalId: payload.approvalId ?? "",
    responseJson: toJsonBytes(value),
  }),
  "node.invalidated": ({ payload: { reason } }) => ({ reason }),
  "memory.updated": ({ payload: { keys, replaced = [] }, value }) => ({
    valuesJson: toJsonBytes(value),
    keys: [...keys],
    replaced: [...replaced],
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

/** The slots that must be free before a start, with the keys filled in. */
const toWireLimits = ({ slot, rate }: Limits) => ({
  slot,
  rate: rate && { ...rate, perMs: BigInt(rate.perMs) },
});

/** Watchers do not see a value that waits for a person, because the person must check it first. */
function toWireBlocked({ payload, at }: FactOf<"node.blocked"> & { readonly at?: number }) {
  const { reason, childRunId = "", phase = "", approval } = payload;
  const { message = "", assignees = [], deadlineMs } = (reason === APPROVAL && approval) || {};
  return {
    reason,
    childRunId,
    phase,
    approvalId: approval?.approvalId ?? "",
    message,
    assignees: [...assignees],
    deadlineTime:
      deadlineMs === undefined || at === undefined ? undefined : toTimestamp(at + deadlineMs),
  };
}

/** A uint64 on the wire. A handler may measure fractions of a millisecond. */
const toWholeMs = (ms: number): bigint => BigInt(Math.max(0, Math.round(ms)));

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
