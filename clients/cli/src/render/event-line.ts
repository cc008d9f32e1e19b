// One event as one plain line, for logs and pipes.

import { fromWire } from "@pawl/client";
import type { FactOf, RunEvent as LoggedEvent } from "@pawl/core/log/event";
import { rowOf } from "@pawl/core/log/event-table";
import { reasonOf, runStatusAfter } from "@pawl/core/log/meaning";
import { executionName } from "@pawl/core/log/undo-iteration";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { causeText, formatDuration, isoText, limitText } from "./words.ts";
import { cutText, safeText } from "./spans.ts";

const DETAIL_WIDTH = 200;

/** Time, number, type, node and the facts of an event. */
export function eventLine(event: RunEvent): string {
  const node = executionName(event.nodeId, event.iteration);
  const known = fromWire(event);
  const detail = known === undefined ? "" : cutText(safeText(detailOf(known)), DETAIL_WIDTH);
  return joined([isoText(event.time), `#${event.eventId}`, event.type, safeText(node), detail]);
}

const joined = (parts: readonly string[]): string => parts.filter((part) => part !== "").join("  ");

function detailOf(event: LoggedEvent): string {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the event table has words for the other types
  switch (event.type) {
    case "node.started":
      return event.attempt > 1 ? `attempt ${event.attempt}` : "";
    case "node.stream.delta":
      return `${cutMark(event.payload)}${deltaText(event.payload)}`;
    case "node.log":
      return `${event.payload.level}: ${cutMark(event.payload)}${event.payload.message}`;
    case "node.retried":
      return `${causeText(event.payload)}; again in ${formatDuration(event.payload.delayMs)}`;
    case "node.completed":
      return completedText(event);
    case "node.blocked":
      return blockedText(event);
    case "run.signalled":
      return event.payload.name;
    case "node.expanded":
      return `${event.payload.width} items`;
    case "node.decided": {
      const { decision, comment } = event.payload;
      return `${decision}${comment === "" ? "" : `: ${comment}`}`;
    }
    case "node.queued":
      return joined([notBeforeText(event.payload), limitText(event.payload)]);
    case "run.started":
      return limitText(event.payload);
    case "run.recovered":
      return `${event.payload.reason}; lost ${event.payload.lostDeliveries} times`;
    case "run.status.changed":
      return statusText(event);
    default:
      return plainDetail(event);
  }
}

/** For any other type: the phase of a check, the reason of the event, and the value of a finding or an output. */
function plainDetail(event: LoggedEvent): string {
  const { payload, value = "" } = event;
  const reason = reasonOf(event);
  const isShown =
    rowOf(event.type)?.isTaggedByValue === true || runStatusAfter(event) === "completed";
  return joined([
    "phase" in payload ? (payload.phase ?? "") : "",
    reason === undefined ? "" : causeText(reason),
    isShown ? value : "",
  ]);
}

/** The mark comes first, because the end of a long line is cut off. */
const cutMark = ({ cutBytes = 0 }: { readonly cutBytes?: number }): string =>
  cutBytes === 0 ? "" : `(${cutBytes} bytes cut off) `;

/** A delay completes at once and holds back the next nodes, so its line shows the delay. */
function completedText({ payload, value = "" }: FactOf<"node.completed">): string {
  const { durationMs, queueDelayMs = 0 } = payload;
  if (queueDelayMs > 0) return `waits ${formatDuration(queueDelayMs)} before the next nodes`;
  return `in ${formatDuration(durationMs)}  ${value}`;
}

const notBeforeText = ({ notBefore }: FactOf<"node.queued">["payload"]): string =>
  notBefore === undefined ? "" : `not before ${new Date(notBefore).toISOString()}`;

/** The new status with the user who changed it, and the reason. */
function statusText({ payload }: FactOf<"run.status.changed">): string {
  const { from, to, who = "", reason = "" } = payload;
  const by = who === "" ? "" : ` by ${who}`;
  return `${from} → ${to}${by}${reason === "" ? "" : `: ${reason}`}`;
}

const deltaText = ({ text, media }: FactOf<"node.stream.delta">["payload"]): string =>
  media === undefined ? JSON.stringify(text) : `${media.mime} ${media.url}`;

/** What a node waits for. */
function blockedText({ payload }: FactOf<"node.blocked">): string {
  const { reason, childRunId, signal } = payload;
  return `${reason} ${childRunId ?? signal?.name ?? ""}`.trimEnd();
}
