// Turns events of the wire into events of the log, so that clients fold with the same functions as the services. It is the inverse of the
// gateway's `toWireEvent`. The wire leaves out some parts of the log (request ids, the wave of a claim, held outputs). Those fields are
// absent or empty.

import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type {
  EventType,
  Goto,
  RecoveryReason,
  RunEvent,
  RunKind,
  SkipReason,
} from "@pawl/core/log/event";
import type { Payloads } from "@pawl/core/log/event-table";
import { approvalId, executorId, nodeId, runId } from "@pawl/core/name/ids";
import type {
  Goto as WireGoto,
  NodeBlocked,
  NodeCompleted,
  RunEvent as WireEvent,
  RunStarted,
  RunStatusChanged,
} from "@pawl/proto/pawl/v1/event_pb";
import { PauseScope } from "@pawl/proto/pawl/v1/pause_pb";
import { amountsOf, budgetOf, usageOf } from "./budget.ts";
import {
  compensatedOf,
  endingOf,
  nodeFailedOf,
  runFailedOf,
  timedOutOf,
} from "./failure-events.ts";
import { counted, given, named } from "./given.ts";
import { jsonTextOf } from "./json.ts";
import { limitsOf } from "./limits.ts";
import { runKindName, runStatusName, stopOf } from "./status.ts";
import { decidedOf, taintOf, writtenOf } from "./taint.ts";
import { assistantOf, takenOf, threadLinkOf } from "./thread-events.ts";

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
  runCompleted: ({ hasFailures, taint, outputJson, compensation }) =>
    body(
      "run.completed",
      { hasFailures, ...taintOf(taint), ...compensatedOf(compensation) },
      outputJson,
    ),
  runFailed: (fact) => body("run.failed", runFailedOf(fact)),
  runCancelled: ({ reason, compensation, stop }) => {
    const done = { ...stopOf(stop), ...compensatedOf(compensation) };
    return body("run.cancelled", { reason, requestId: "", ...done });
  },
  runThreadTaken: (fact) => body("run.thread.taken", takenOf(fact), fact.memoryJson),
  runTimedOut: ({ deadlineTime, compensation }) =>
    body("run.timed_out", {
      deadlineAt: msOf(deadlineTime) ?? 0,
      ...compensatedOf(compensation),
    }),
  runRecovered: ({ reason, executorId: id, lostDeliveries, awaitsBudget }) =>
    body("run.recovered", {
      reason: reason as RecoveryReason,
      executorId: executorId(id),
      lostDeliveries,
      ...(awaitsBudget && { awaitsBudget }),
    }),
  // The wire has no digest: only the scheduler compares requests.
  runSignalled: ({ name, requestId, payloadJson }) =>
    body("run.signalled", { name, requestId, digest: "" }, payloadJson),
  runBudgetRaised: ({ amounts, by: who, reason, requestId }) =>
    body("run.budget.raised", { ...amountsOf(amounts), who, reason, requestId }),
  runMetadataSet: ({ metadataJson }) => body("run.metadata.set", {}, metadataJson),
  nodeQueued: ({ notBeforeTime, slot, rate, reserved }) =>
    body("node.queued", {
      ...given("notBefore", msOf(notBeforeTime)),
      ...given("reserved", reserved && amountsOf(reserved)),
      ...limitsOf({ slot, rate }),
    }),
  nodeStarted: ({ executorId: id, taint }) =>
    body("node.started", { executorId: executorId(id), ...taintOf(taint) }),
  nodeExpanded: ({ width, taint, itemsJson }) =>
    body("node.expanded", { width, ...taintOf(taint) }, itemsJson),
  nodeStreamDelta: ({ deltaIndex, text, media, cutBytes }) =>
    body("node.stream.delta", {
      deltaIndex,
      text,
      ...(media === undefined ? {} : { media: { url: media.url, mime: media.mime } }),
      ...counted("cutBytes", cutBytes),
    }),
  nodeLog: ({ level, message, cutBytes }) =>
    body("node.log", { logIndex: 0, level, message, ...counted("cutBytes", cutBytes) }),
  nodeRetried: ({ cause, message, delayMs, usage, awaitsBudget }) =>
    body("node.retried", {
      cause,
      message,
      delayMs: Number(delayMs),
      ...usageOf(usage),
      ...(awaitsBudget && { awaitsBudget }),
    }),
  nodeCompleted: (fact) => body("node.completed", completedOf(fact), fact.outputJson),
  nodeFailed: (fact) => body("node.failed", nodeFailedOf(fact), fact.detailsJson),
  nodeCancelled: ({ reason }) => body("node.cancelled", { reason }),
  nodeSkipped: ({ reason }) => body("node.skipped", { reason: reason as SkipReason }),
  nodeTimedOut: (fact) => body("node.timed_out", timedOutOf(fact)),
  nodeBlocked: (fact, atMs) => body("node.blocked", blockedOf(fact, atMs)),
  nodeDecided: (fact) => body("node.decided", decidedOf(fact), fact.responseJson),
  nodeInvalidated: ({ reason }) => body("node.invalidated", { reason }),
  memoryUpdated: (fact) => body("memory.updated", writtenOf(fact), fact.valuesJson),
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
  const { json, payload, type } = bodyOf(fact.value, at);
  const reused = Number(event.reusedEventId);
  // The spread keeps the pairing of type and payload, which the union cannot see.
  const known = { type, payload: reused === 0 ? payload : { ...payload, reused } } as Body;
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
    ...given("maxRetries", fact.maxRetries),
    ...named("goal", fact.goal),
    ...(fact.constraints.length === 0 ? {} : { constraints: fact.constraints }),
    ...budgetOf(fact.budget),
    ...(scheduleId === "" ? {} : { schedule: { scheduleId, at: msOf(scheduleTime) ?? 0 } }),
    ...threadLinkOf(fact),
    ...given("startAt", msOf(fact.startAt)),
    ...assistantOf(fact),
    ...taintOf(fact.taint),
    ...(fact.repairOf === ""
      ? {}
      : { repair: { runId: runId(fact.repairOf), planDigest: fact.planDigest } }),
    ...undoesOf(fact),
    ...limitsOf(fact),
    ...given("daily", fact.dailyBudget && amountsOf(fact.dailyBudget)),
  };
}

function undoesOf(fact: RunStarted): Pick<Payloads["run.started"], "undoes"> {
  if (fact.undoesRunId === "") return {};
  const [id, node] = [runId(fact.undoesRunId), nodeId(fact.undoesNodeId)];
  return { undoes: { runId: id, nodeId: node, iteration: fact.undoesIteration } };
}

function statusOf(fact: RunStatusChanged): Payloads["run.status.changed"] {
  const { scope, by: who, reason } = fact;
  return {
    from: runStatusName(fact.from),
    to: runStatusName(fact.to),
    ...given("deadlineAt", msOf(fact.deadlineTime)),
    ...given("ending", fact.ending && endingOf(fact.ending)),
    ...(scope === PauseScope.UNSPECIFIED
      ? {}
      : { scope: scope === PauseScope.WORKFLOW ? "workflow" : "run", who, reason }),
    ...(fact.waitingFor === "budget" ? { waitingFor: fact.waitingFor } : {}),
    ...(fact.budgetDay === ""
      ? {}
      : { dayFunds: { day: fact.budgetDay, reserved: amountsOf(fact.budgetReserved) } }),
  };
}

function completedOf(fact: NodeCompleted): Payloads["node.completed"] {
  const { handle, durationMs, queueDelayMs, usage, goto, calls, sanitized } = fact;
  const { signalRequestId, setBy } = fact;
  return {
    durationMs: Number(durationMs),
    ...named("handle", handle),
    ...counted("queueDelayMs", queueDelayMs),
    ...usageOf(usage),
    ...(goto === undefined ? {} : { goto: gotoOf(goto) }),
    ...taintOf(fact.taint),
    ...(sanitized && { sanitized: { labels: sanitized.labels, reason: sanitized.reason } }),
    ...(setBy === undefined ? {} : { set: { who: setBy.by, reason: setBy.reason } }),
    ...(calls.length === 0
      ? {}
      : { calls: calls.map(({ id, name, fault }) => ({ id, name, ...named("fault", fault) })) }),
    ...named("signal", signalRequestId),
  };
}

const gotoOf = ({ nodeId: id, kind, reason }: WireGoto): Goto => ({
  nodeId: nodeId(id),
  kind: kind === "handoff" ? kind : "goto",
  reason,
});

function blockedOf(fact: NodeBlocked, atMs: number): Payloads["node.blocked"] {
  const { reason, childRunId, phase, approvalId: id, message, assignees, signal: name } = fact;
  const deadlineAt = msOf(fact.deadlineTime);
  const leftMs = deadlineAt === undefined ? undefined : deadlineAt - atMs;
  return {
    reason,
    ...usageOf(fact.usage),
    ...given("reserved", fact.reserved && amountsOf(fact.reserved)),
    ...(childRunId === "" ? {} : { childRunId: runId(childRunId) }),
    ...(phase === "" ? {} : { phase: phase as Phase }),
    ...(id === ""
      ? {}
      : {
          approval: {
            ...{ approvalId: approvalId(id), message, assignees },
            ...given("deadlineMs", leftMs),
          },
        }),
    ...taintOf(fact.taint),
    ...(name === "" ? {} : { signal: { name, ...given("timeoutMs", leftMs) } }),
  };
}

const msOf = (time: Timestamp | undefined): number | undefined =>
  time === undefined ? undefined : timestampMs(time);
