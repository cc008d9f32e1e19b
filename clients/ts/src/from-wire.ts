// Turns events of the wire into events of the log, so that clients fold with the same functions as the services. It is the inverse of the
// gateway's `toWireEvent`. The wire leaves out some parts of the log (request ids, the wave of a claim, held outputs). Those fields are
// absent or empty.

import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type {
  EventType,
  Goto,
  NodeDecision,
  RecoveryReason,
  RunEvent,
  RunKind,
  SkipReason,
} from "@pawl/core/log/event";
import type { Payloads } from "@pawl/core/log/event-table";
import { approvalId, executorId, nodeId, runId } from "@pawl/core/name/ids";
import type { Limits, LimitScope } from "@pawl/core/policy/limit";
import type {
  Goto as WireGoto,
  Limit,
  NodeBlocked,
  NodeCompleted,
  RunEvent as WireEvent,
  RunFailed,
  RunStarted,
  RunStatusChanged,
} from "@pawl/proto/pawl/v1/event_pb";
import { PauseScope } from "@pawl/proto/pawl/v1/pause_pb";
import { jsonTextOf } from "./json.ts";
import { runKindName, runStatusName } from "./status.ts";

type WireFact = Exclude<WireEvent["fact"], { readonly case: undefined | "heartbeat" }>;
type Cases = { readonly [F in WireFact as F["case"]]: F["value"] };
/** The part of an event that its type decides. */
interface BodyOf<Type extends EventType> {
  readonly type: Type;
  readonly payload: Payloads[Type];
  readonly json: Uint8Array | undefined;
}
type Body = { [Type in EventType]: BodyOf<Type> }[EventType];

const body = <Type extends EventType>(
  type: Type,
  payload: Payloads[Type],
  json?: Uint8Array,
): BodyOf<Type> => ({ type, payload, json });

// Causes, reasons and phases are open text on the wire and closed lists in core. A newer gateway may send a word that is not listed.
const BODIES: { readonly [C in keyof Cases]: (fact: Cases[C], atMs: number) => Body } = {
  runStarted: (fact) => body("run.started", startedOf(fact), fact.inputJson),
  runStatusChanged: (fact) => body("run.status.changed", statusOf(fact)),
  runCompleted: ({ hasFailures, outputJson }) => body("run.completed", { hasFailures }, outputJson),
  runFailed: (fact) => body("run.failed", failedOf(fact)),
  runCancelled: ({ reason }) => body("run.cancelled", { reason, requestId: "" }),
  runTimedOut: ({ deadlineTime }) => body("run.timed_out", { deadlineAt: msOf(deadlineTime) ?? 0 }),
  runRecovered: ({ reason, executorId: id, lostDeliveries }) =>
    body("run.recovered", {
      reason: reason as RecoveryReason,
      executorId: executorId(id),
      lostDeliveries,
    }),
  runMetadataSet: ({ metadataJson }) => body("run.metadata.set", {}, metadataJson),
  nodeQueued: ({ notBeforeTime, slot, rate }) =>
    body("node.queued", {
      ...given("notBefore", msOf(notBeforeTime)),
      ...limitsOf({ slot, rate }),
    }),
  nodeStarted: ({ executorId: id }) => body("node.started", { executorId: executorId(id) }),
  nodeExpanded: ({ width, itemsJson }) => body("node.expanded", { width }, itemsJson),
  nodeStreamDelta: ({ deltaIndex, text, media, cutBytes }) =>
    body("node.stream.delta", {
      deltaIndex,
      text,
      ...(media === undefined ? {} : { media: { url: media.url, mime: media.mime } }),
      ...counted("cutBytes", cutBytes),
    }),
  nodeLog: ({ level, message, cutBytes }) =>
    body("node.log", { logIndex: 0, level, message, ...counted("cutBytes", cutBytes) }),
  nodeRetried: ({ cause, message, delayMs }) =>
    body("node.retried", { cause, message, delayMs: Number(delayMs) }),
  nodeCompleted: (fact) => body("node.completed", completedOf(fact), fact.outputJson),
  nodeFailed: ({ cause, message, detailsJson }) =>
    body("node.failed", { cause, message }, detailsJson),
  nodeCancelled: ({ reason }) => body("node.cancelled", { reason }),
  nodeSkipped: ({ reason }) => body("node.skipped", { reason: reason as SkipReason }),
  nodeTimedOut: ({ timeoutMs }) => body("node.timed_out", { timeoutMs: Number(timeoutMs) }),
  nodeBlocked: (fact, atMs) => body("node.blocked", blockedOf(fact, atMs)),
  nodeDecided: ({ decision, reason, comment, decidedBy, approvalId: id, responseJson }) =>
    body(
      "node.decided",
      {
        decision: decision as NodeDecision,
        reason,
        comment,
        requestId: "",
        ...named("decidedBy", decidedBy),
        ...(id === "" ? {} : { approvalId: approvalId(id) }),
      },
      responseJson,
    ),
  nodeInvalidated: ({ reason }) => body("node.invalidated", { reason }),
  memoryUpdated: ({ keys, replaced, valuesJson }) =>
    body("memory.updated", replaced.length === 0 ? { keys } : { keys, replaced }, valuesJson),
  moderationFlagged: ({ phase, detailsJson }) =>
    body("moderation.flagged", { phase: phase as Phase }, detailsJson),
  contractViolated: ({ phase, errorsJson }) =>
    body("contract.violated", { phase: phase as Phase }, errorsJson),
};

type Phase = "input" | "output";

/** The event of the log. Undefined for a heartbeat and for a fact that this client does not know. */
export function fromWire(event: WireEvent): RunEvent | undefined {
  const { fact } = event;
  if (fact.case === undefined || fact.case === "heartbeat") return undefined;
  const at = msOf(event.time) ?? 0;
  // The table pairs each case with its own value; TypeScript cannot follow that through an index.
  const bodyOf = BODIES[fact.case] as (value: typeof fact.value, atMs: number) => Body;
  const { json, ...known } = bodyOf(fact.value, at);
  return {
    ...known,
    runId: runId(event.runId),
    seq: Number(event.eventId),
    at,
    nodeId: event.nodeId === "" ? "" : nodeId(event.nodeId),
    iteration: event.iteration,
    attempt: event.attempt,
    epoch: Number(event.epoch),
    ...given("value", jsonTextOf(json)),
  };
}

function startedOf(fact: RunStarted): Payloads["run.started"] {
  const { scheduleId, scheduleTime } = fact;
  return {
    definitionDigest: fact.definitionDigest,
    workflowVersion: fact.workflowVersion,
    kind: runKindName(fact.kind) as RunKind,
    deadlineAt: msOf(fact.deadlineTime) ?? 0,
    ...named("inputKey", fact.idempotencyKey),
    ...(fact.maxIterations === 0 ? {} : { maxIterations: fact.maxIterations }),
    ...(scheduleId === "" ? {} : { schedule: { scheduleId, at: msOf(scheduleTime) ?? 0 } }),
    ...limitsOf(fact),
  };
}

function statusOf(fact: RunStatusChanged): Payloads["run.status.changed"] {
  const { scope, by: who, reason } = fact;
  return {
    from: runStatusName(fact.from),
    to: runStatusName(fact.to),
    ...given("deadlineAt", msOf(fact.deadlineTime)),
    ...(scope === PauseScope.UNSPECIFIED
      ? {}
      : { scope: scope === PauseScope.WORKFLOW ? "workflow" : "run", who, reason }),
  };
}

function completedOf(fact: NodeCompleted): Payloads["node.completed"] {
  const { handle, durationMs, queueDelayMs, usage, goto } = fact;
  const { inputTokens, outputTokens } = usage ?? {};
  return {
    durationMs: Number(durationMs),
    ...named("handle", handle),
    ...counted("queueDelayMs", queueDelayMs),
    ...(usage === undefined
      ? {}
      : { usage: { inputTokens: Number(inputTokens), outputTokens: Number(outputTokens) } }),
    ...(goto === undefined ? {} : { goto: gotoOf(goto) }),
  };
}

const gotoOf = ({ nodeId: id, kind, reason }: WireGoto): Goto => ({
  nodeId: nodeId(id),
  kind: kind === "handoff" ? kind : "goto",
  reason,
});

function failedOf({ failedNodeId, message, cause }: RunFailed): Payloads["run.failed"] {
  return { failedNodeId, message, ...named("cause", cause) };
}

function blockedOf(fact: NodeBlocked, atMs: number): Payloads["node.blocked"] {
  const { reason, childRunId, phase, approvalId: id, message, assignees } = fact;
  const deadlineAt = msOf(fact.deadlineTime);
  const deadline = deadlineAt === undefined ? {} : { deadlineMs: deadlineAt - atMs };
  return {
    reason,
    ...(childRunId === "" ? {} : { childRunId: runId(childRunId) }),
    ...(phase === "" ? {} : { phase: phase as Phase }),
    ...(id === ""
      ? {}
      : { approval: { approvalId: approvalId(id), message, assignees, ...deadline } }),
  };
}

interface WireLimits {
  readonly slot?: Limit | undefined;
  readonly rate?: Limit | undefined;
}

const limitsOf = ({ slot, rate }: WireLimits): Limits => ({
  ...(slot === undefined ? {} : { slot: limitOf(slot) }),
  ...(rate === undefined ? {} : { rate: { ...limitOf(rate), perMs: Number(rate.perMs) } }),
});

const limitOf = ({ key, limit, scope }: Limit) => ({ key, limit, scope: scope as LimitScope });

const msOf = (time: Timestamp | undefined): number | undefined =>
  time === undefined ? undefined : timestampMs(time);

/** A field that is present only with a value. */
const given = <Key extends string, Value>(key: Key, value: Value | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: Value };

/** A field that is present only with a text: the wire has "" for none. */
const named = <Key extends string>(key: Key, text: string) =>
  given(key, text === "" ? undefined : text);

/** A field that is present only with a number above 0: the wire has 0 for none. */
const counted = <Key extends string>(key: Key, count: bigint) =>
  given(key, count === 0n ? undefined : Number(count));
