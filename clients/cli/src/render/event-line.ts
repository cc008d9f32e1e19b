// One event as one plain line, for logs and pipes.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { jsonOf } from "@pawl/client";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { formatDuration } from "./duration.ts";
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

function detailOf({ fact, attempt }: RunEvent): string {
  switch (fact.case) {
    case "nodeStarted":
      return attempt > 1 ? `attempt ${attempt}` : "";
    case "nodeStreamDelta":
      return JSON.stringify(fact.value.text);
    case "nodeLog":
      return `${fact.value.level}: ${fact.value.message}`;
    case "nodeRetried":
      return `${fact.value.cause}: ${fact.value.message}; again in ${formatDuration(Number(fact.value.delayMs))}`;
    case "nodeCompleted":
      return `in ${formatDuration(Number(fact.value.durationMs))}  ${valueText(fact.value.outputJson)}`;
    case "nodeFailed":
      return `${fact.value.cause}: ${fact.value.message}`;
    case "nodeTimedOut":
      return `after ${fact.value.timeoutMs} ms`;
    case "nodeCancelled":
    case "nodeSkipped":
    case "nodeBlocked":
    case "runCancelled":
      return fact.value.reason;
    case "runRecovered":
      return `${fact.value.reason}; lost ${fact.value.lostDeliveries} times`;
    case "runCompleted":
      return valueText(fact.value.outputJson);
    case "runFailed":
      return fact.value.message;
    case "runStarted":
    case "runStatusChanged":
    case "runTimedOut":
    case "runMetadataSet":
    case "nodeQueued":
    case "nodeInvalidated":
    case "moderationFlagged":
    case "contractViolated":
    case "heartbeat":
    case undefined:
    default:
      return "";
  }
}

const valueText = (bytes: Uint8Array): string => {
  const value = jsonOf(bytes);
  return value === undefined ? "" : JSON.stringify(value);
};
