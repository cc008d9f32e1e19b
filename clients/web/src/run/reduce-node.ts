// Folds one event into one node execution. Its deliveries run queued → started → ended; a retry or a lost executor ends one
// and the next node.queued opens another.

import type { NodeStatus } from "@pawl/core/log/event";
import type { NodeStreamDelta, RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { jsonText } from "../ui/json-text.ts";
import { MEDIA_MAX } from "./media.ts";
import type { Delivery, DeliveryEnd, NodeView } from "./view.ts";

/** Folds `event`, which names this node execution, into it. */
export function reduceNode(node: NodeView, event: RunEvent, at: number): NodeView {
  const fact = event.fact;
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- a newer gateway may send facts this console does not know
  switch (fact.case) {
    case "nodeQueued": {
      const notBefore = fact.value.notBeforeTime;
      return {
        ...node,
        status: "queued",
        attempt: event.attempt,
        deliveries: [
          ...ended(node.deliveries, "held", at),
          queued(event, at, notBefore && timestampMs(notBefore)),
        ],
      };
    }
    case "nodeStarted":
      return {
        ...node,
        status: "running",
        attempt: event.attempt,
        deliveries: started(node.deliveries, event, fact.value.executorId, at),
        cause: "",
        message: "",
      };
    case "nodeStreamDelta":
      return appendText(node, event.epoch, fact.value);
    case "nodeLog": {
      const { level, message } = fact.value;
      return { ...node, log: [...node.log, { seq: Number(event.eventId), at, level, message }] };
    }
    case "nodeBlocked":
      return {
        ...node,
        status: "waiting",
        cause: fact.value.reason,
        childRunId: fact.value.childRunId,
        approvalId: fact.value.approvalId,
        question: fact.value.message,
        decision: undefined,
      };
    case "nodeDecided": {
      const { decision, decidedBy: by, comment, responseJson } = fact.value;
      return { ...node, decision: { decision, by, comment, response: jsonText(responseJson), at } };
    }
    case "nodeExpanded":
      return { ...node, status: "waiting", width: fact.value.width };
    case "nodeInvalidated":
      return { ...node, status: "invalidated", cause: fact.value.reason };
    case "runRecovered":
      return {
        ...node,
        status: "retrying",
        deliveries: ended(node.deliveries, "lost", at),
        lostDeliveries: fact.value.lostDeliveries,
        cause: fact.value.reason,
      };
    default:
      return settle(node, fact, at);
  }
}

function settle(node: NodeView, fact: RunEvent["fact"], at: number): NodeView {
  const to = (status: NodeStatus & DeliveryEnd, cause: string, message: string): NodeView => ({
    ...node,
    status,
    cause,
    message,
    deliveries: ended(node.deliveries, status, at),
    settledAt: at,
  });
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- a newer gateway may send facts this console does not know
  switch (fact.case) {
    case "nodeRetried": {
      const { cause, message } = fact.value;
      const deliveries = ended(node.deliveries, "retried", at);
      return { ...node, status: "retrying", cause, message, deliveries };
    }
    case "nodeCompleted": {
      const delayMs = Number(fact.value.queueDelayMs);
      return {
        ...to("completed", "", ""),
        handle: fact.value.handle,
        output: jsonText(fact.value.outputJson),
        releaseAt: delayMs > 0 ? at + delayMs : undefined,
      };
    }
    case "nodeFailed":
      return {
        ...to("failed", fact.value.cause, fact.value.message),
        details: jsonText(fact.value.detailsJson),
      };
    case "nodeTimedOut":
      return to("timed_out", "timeout", `Took longer than its ${fact.value.timeoutMs} ms.`);
    case "nodeCancelled":
      return to("cancelled", "cancelled", fact.value.reason);
    case "nodeSkipped":
      return to("skipped", fact.value.reason, "");
    default: // Findings, and facts newer than this console, are in the event log only.
      return node;
  }
}

/** Keeps a high-water mark per claim and drops what was seen (S1.50). */
function appendText(node: NodeView, epoch: bigint, delta: NodeStreamDelta): NodeView {
  const same = epoch === node.textEpoch;
  if (same && delta.deltaIndex < node.nextDelta) return node;
  const text = (same ? node.text : "") + delta.text;
  const before = same ? node.media : [];
  const media = delta.media === undefined ? before : [...before, delta.media].slice(-MEDIA_MAX);
  return { ...node, text, media, textEpoch: epoch, nextDelta: delta.deltaIndex + 1 };
}

const queued = (event: RunEvent, at: number, notBeforeAt: number | undefined): Delivery => ({
  attempt: event.attempt,
  epoch: 0,
  executorId: "",
  queuedAt: at,
  notBeforeAt,
  startedAt: undefined,
  endedAt: undefined,
  end: undefined,
});

function started(
  deliveries: readonly Delivery[],
  event: RunEvent,
  executorId: string,
  at: number,
): readonly Delivery[] {
  const last = deliveries.at(-1);
  const open = last?.startedAt === undefined && last?.end === undefined ? last : undefined;
  const before = open === undefined ? deliveries : deliveries.slice(0, -1);
  const { attempt, eventId } = event;
  const base = open ?? queued(event, at, undefined);
  return [...before, { ...base, attempt, epoch: Number(eventId), executorId, startedAt: at }];
}

function ended(deliveries: readonly Delivery[], end: DeliveryEnd, at: number): readonly Delivery[] {
  const last = deliveries.at(-1);
  if (last === undefined || last.end !== undefined) return deliveries;
  return [...deliveries.slice(0, -1), { ...last, end, endedAt: at }];
}
