// One event as one plain line, for logs and pipes.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { jsonOf, runStatusName } from "@pawl/client";
import type {
  NodeCompleted,
  NodeQueued,
  NodeStreamDelta,
  RunEvent,
  RunStatusChanged,
} from "@pawl/proto/pawl/v1/event_pb";
import { formatDuration } from "./duration.ts";
import { limitText } from "./limit.ts";
import { cutText, safeText } from "./spans.ts";

const DETAIL_WIDTH = 200;

/** Time, number, type, node and what matters of the fact. */
export function eventLine(event: RunEvent): string {
  const time = event.time === undefined ? "" : timestampDate(event.time).toISOString();
  const node = event.iteration > 0 ? `${event.nodeId}#${event.iteration}` : event.nodeId;
  const detail = cutText(safeText(detailOf(event)), DETAIL_WIDTH);
  return [time, `#${event.eventId}`, event.type, safeText(node), detail]
    .filter((part) => part !== "")
    .join("  ");
}

/** In front, since the line itself is cut to the width of the screen. */
const cutMark = ({ cutBytes }: { readonly cutBytes: bigint }): string =>
  cutBytes === 0n ? "" : `(${cutBytes} bytes cut off) `;

function detailOf({ fact, attempt }: RunEvent): string {
  switch (fact.case) {
    case "nodeStarted":
      return attempt > 1 ? `attempt ${attempt}` : "";
    case "nodeStreamDelta":
      return `${cutMark(fact.value)}${deltaText(fact.value)}`;
    case "nodeLog":
      return `${fact.value.level}: ${cutMark(fact.value)}${fact.value.message}`;
    case "nodeRetried":
      return `${causeText(fact.value)}; again in ${formatDuration(Number(fact.value.delayMs))}`;
    case "nodeCompleted":
      return completedText(fact.value);
    case "nodeFailed":
      return causeText(fact.value);
    case "nodeTimedOut":
      return `after ${fact.value.timeoutMs} ms`;
    case "nodeCancelled":
    case "nodeSkipped":
    case "runCancelled":
      return fact.value.reason;
    case "nodeBlocked":
      return [fact.value.reason, fact.value.childRunId].filter((part) => part !== "").join(" ");
    case "nodeExpanded":
      return `${fact.value.width} items`;
    case "nodeDecided":
      return `${fact.value.decision}${fact.value.comment === "" ? "" : `: ${fact.value.comment}`}`;
    case "runRecovered":
      return `${fact.value.reason}; lost ${fact.value.lostDeliveries} times`;
    case "runCompleted":
      return valueText(fact.value.outputJson);
    case "runFailed":
      return fact.value.message;
    case "runStatusChanged":
      return statusText(fact.value);
    case "moderationFlagged":
      return `${fact.value.phase} ${valueText(fact.value.detailsJson)}`;
    case "contractViolated":
      return `${fact.value.phase} ${valueText(fact.value.errorsJson)}`;
    case "nodeQueued":
      return [notBeforeText(fact.value), limitText(fact.value)].filter(Boolean).join("  ");
    case "runStarted":
      return limitText(fact.value);
    case "runTimedOut":
    case "runMetadataSet":
    case "nodeInvalidated":
    case "heartbeat":
    case undefined:
    default:
      return "";
  }
}

/** A delay completes at once in the log and holds back what follows: that is what a reader wants to know of it. */
function completedText({ durationMs, queueDelayMs, outputJson }: NodeCompleted): string {
  if (queueDelayMs > 0n) return `waits ${formatDuration(Number(queueDelayMs))} before what follows`;
  return `in ${formatDuration(Number(durationMs))}  ${valueText(outputJson)}`;
}

const notBeforeText = ({ notBeforeTime }: NodeQueued): string =>
  notBeforeTime === undefined ? "" : `not before ${timestampDate(notBeforeTime).toISOString()}`;

/** Where somebody changed it: who, and why. */
function statusText({ from, to, by, reason }: RunStatusChanged): string {
  const who = by === "" ? "" : ` by ${by}`;
  return `${runStatusName(from)} → ${runStatusName(to)}${who}${reason === "" ? "" : `: ${reason}`}`;
}

/** Many messages begin with their cause. */
export const causeText = ({ cause, message }: Cause): string =>
  message.startsWith(cause) ? message : `${cause}: ${message}`;

interface Cause {
  readonly cause: string;
  readonly message: string;
}

const deltaText = ({ text, media }: NodeStreamDelta): string =>
  media === undefined ? JSON.stringify(text) : `${media.mime} ${media.url}`;

const valueText = (bytes: Uint8Array): string => {
  const value = jsonOf(bytes);
  return value === undefined ? "" : JSON.stringify(value);
};
