// Events of the wire as events of the log, so that clients fold with the same functions as the services. The inverse of the gateway's
// `toWireEvent`. The wire leaves some of the log out (requests' ids, a claim's wave, held outputs): those fields are absent or empty.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type {
  EventType,
  NodeDecision,
  RecoveryReason,
  RunEvent,
  RunKind,
  RunStatus,
  SkipReason,
} from "@pawl/core/log/event";
import type { Payloads } from "@pawl/core/log/event-table";
import { approvalId, executorId, nodeId, runId } from "@pawl/core/name/ids";
import type { Limits, LimitScope } from "@pawl/core/policy/limit";
import type {
  Limit,
  NodeBlocked,
  RunStarted,
  RunEvent as WireEvent,
} from "@pawl/proto/pawl/v1/event_pb";
import { PauseScope } from "@pawl/proto/pawl/v1/pause_pb";
import { jsonTextOf } from "./json.ts";
import { runKindName, runStatusName } from "./status.ts";

type WireFact = Exclude<WireEvent["fact"], { readonly case: undefined | "heartbeat" }>;
type Cases = { readonly [F in WireFact as F["case"]]: F["value"] };
/** The part of an event that its type decides. */
type Body = {
  [T in EventType]: { readonly type: T; readonly payload: Payloads[T]; readonly json?: Uint8Array };
}[EventType];

// Causes, reasons and phases are open text on the wire and closed lists in core; a newer gateway may send a word that is not listed.
const BODIES: { readonly [C in keyof Cases]: (fact: Cases[C], atMs: number) => Body } = {
  runStarted: (fact) => ({
    type: "run.started",
    payload: startedOf(fact),
    json: fact.inputJson,
  }),
  runStatusChanged: ({ from, to, deadlineTime, scope, by, reason }) => ({
    type: "run.status.changed",
    payload: {
      from: runStatusName(from) as RunStatus,
      to: runStatusName(to) as RunStatus,
      ...given("deadlineAt", msOf(deadlineTime)),
      ...(scope === PauseScope.UNSPECIFIED
        ? {}
        : { scope: scope === PauseScope.WORKFLOW ? "workflow" : "run", who: by, reason }),
    },
  }),
  runCompleted: ({ hasFailures, outputJson: json }) => ({
    type: "run.completed",
    payload: { hasFailures },
    json,
  }),
  runFailed: ({ failedNodeId, message }) => ({
    type: "run.failed",
    payload: { failedNodeId, message },
  }),
  runCancelled: ({ reason }) => ({ type: "run.cancelled", payload: { reason, requestId: "" } }),
  runTimedOut: ({ deadlineTime }) => ({
    type: "run.timed_out",
    payload: { deadlineAt: msOf(deadlineTime) ?? 0 },
  }),
  runRecovered: ({ reason, executorId: id, lostDeliveries }) => ({
    type: "run.recovered",
    payload: { reason: reason as RecoveryReason, executorId: executorId(id), lostDeliveries },
  }),
  runMetadataSet: ({ metadataJson: json }) => ({ type: "run.metadata.set", payload: {}, json }),
  nodeQueued: ({ notBeforeTime, slot, rate }) => ({
    type: "node.queued",
    payload: { ...given("notBefore", msOf(notBeforeTime)), ...limitsOf({ slot, rate }) },
  }),
  nodeStarted: ({ executorId: id }) => ({
    type: "node.started",
    payload: { executorId: executorId(id) },
  }),
  nodeExpanded: ({ width, itemsJson: json }) => ({
    type: "node.expanded",
    payload: { width },
    json,
  }),
  nodeStreamDelta: ({ deltaIndex, text, media, cutBytes }) => ({
    type: "node.stream.delta",
    payload: {
      deltaIndex,
      text,
      ...(media === undefined ? {} : { media: { url: media.url, mime: media.mime } }),
      ...counted("cutBytes", cutBytes),
    },
  }),
  nodeLog: ({ level, message, cutBytes }) => ({
    type: "node.log",
    payload: { logIndex: 0, level, message, ...counted("cutBytes", cutBytes) },
  }),
  nodeRetried: ({ cause, message, delayMs }) => ({
    type: "node.retried",
    payload: { cause, message, delayMs: Number(delayMs) },
  }),
  nodeCompleted: ({ handle, durationMs, queueDelayMs, usage, outputJson: json }) => ({
    type: "node.completed",
    payload: {
      durationMs: Number(durationMs),
      ...named("handle", handle),
      ...counted("queueDelayMs", queueDelayMs),
      ...(usage === undefined
        ? {}
        : {
            usage: {
              inputTokens: Number(usage.inputTokens),
              outputTokens: Number(usage.outputTokens),
            },
          }),
    },
    json,
  }),
  nodeFailed: ({ cause, message, detailsJson: json }) => ({
    type: "node.failed",
    payload: { cause, message },
    json,
  }),
  nodeCancelled: ({ reason }) => ({ type: "node.cancelled", payload: { reason } }),
  nodeSkipped: ({ reason }) => ({
    type: "node.skipped",
    payload: { reason: reason as SkipReason },
  }),
  nodeTimedOut: ({ timeoutMs }) => ({
    type: "node.timed_out",
    payload: { timeoutMs: Number(timeoutMs) },
  }),
  nodeBlocked: (fact, atMs) => ({ type: "node.blocked", payload: blockedOf(fact, atMs) }),
  nodeDecided: ({ decision, reason, comment, decidedBy, approvalId: id, responseJson: json }) => ({
    type: "node.decided",
    payload: {
      decision: decision as NodeDecision,
      reason,
      comment,
      requestId: "",
      ...named("decidedBy", decidedBy),
      ...(id === "" ? {} : { approvalId: approvalId(id) }),
    },
    json,
  }),
  nodeInvalidated: ({ reason }) => ({ type: "node.invalidated", payload: { reason } }),
  moderationFlagged: ({ phase, detailsJson: json }) => ({
    type: "moderation.flagged",
    payload: { phase: phase as Phase },
    json,
  }),
  contractViolated: ({ phase, errorsJson: json }) => ({
    type: "contract.violated",
    payload: { phase: phase as Phase },
    json,
  }),
};

type Phase = "input" | "output";

/** The event of the log; undefined for a heartbeat and for a fact that this client does not know. */
export function fromWire(event: WireEvent): RunEvent | undefined {
  const { fact } = event;
  if (fact.case === undefined || fact.case === "heartbeat") return undefined;
  const at = msOf(event.time) ?? 0;
  // The table pairs each case with its own value; TypeScript cannot follow that through an index.
  const bodyOf = BODIES[fact.case] as (value: typeof fact.value, atMs: number) => Body;
  const { json, ...body } = bodyOf(fact.value, at);
  return {
    ...body,
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
    ...(scheduleId === "" ? {} : { schedule: { scheduleId, at: msOf(scheduleTime) ?? 0 } }),
    ...limitsOf(fact),
  };
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

/** A field that is there only with a value. */
const given = <Key extends string, Value>(key: Key, value: Value | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: Value };

/** A field that is there only with a text: the wire has "" for none. */
const named = <Key extends string>(key: Key, text: string) =>
  given(key, text === "" ? undefined : text);

/** A field that is there only with a number above 0: the wire has 0 for none. */
const counted = <Key extends string>(key: Key, count: bigint) =>
  given(key, count === 0n ? undefined : Number(count));
