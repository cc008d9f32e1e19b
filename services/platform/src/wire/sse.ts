// The same fact as one line of JSON for SSE. The user's JSON is embedded as the text it is: it was checked at the
// door and stored by Postgres, so parsing and printing it again would only cost time and change its numbers.

import { causeOf } from "@pawl/core/log/cause";
import type { EventType, RunEvent } from "@pawl/core/log/event";
import type { EventScope } from "./event.ts";

/** Under which key of `payload` the user's JSON appears. */
const VALUE_KEYS: Readonly<Record<EventType, string>> = {
  "run.started": "input",
  "run.status.changed": "details",
  "run.completed": "output",
  "run.failed": "details",
  "run.cancelled": "details",
  "run.timed_out": "details",
  "run.recovered": "details",
  "run.metadata.set": "metadata",
  "node.queued": "details",
  "node.started": "details",
  "node.expanded": "items",
  "node.stream.delta": "details",
  "node.log": "details",
  "node.retried": "details",
  "node.completed": "output",
  "node.failed": "details",
  "node.cancelled": "details",
  "node.skipped": "details",
  "node.timed_out": "details",
  "node.blocked": "details",
  "node.decided": "details",
  "node.invalidated": "details",
  "moderation.flagged": "details",
  "contract.violated": "errors",
};

/** The event as one line of JSON text. */
export function toSseJson(event: RunEvent, scope: EventScope): string {
  const workflow =
    scope.workflowId === "" ? "" : `"workflowId":${JSON.stringify(scope.workflowId)},`;
  const trace = scope.traceId === "" ? "" : `"traceId":"${scope.traceId}",`;
  const cause = causeOf(event);
  const parent = cause === 0 ? "" : `"parentEventId":${cause},`;
  return (
    `{"eventId":${event.seq},"sequence":${event.seq},"type":${JSON.stringify(event.type)},` +
    `"runId":"${event.runId}",${workflow}"timestamp":"${new Date(event.at).toISOString()}",` +
    `"correlation":{${trace}${parent}"wave":${scope.waveOf(event.nodeId)},"phase":"engine"},` +
    `"nodeId":${JSON.stringify(event.nodeId)},"iteration":${event.iteration},"attempt":${event.attempt},` +
    `"epoch":${event.epoch},"payload":${toPayloadJson(event)}}`
  );
}

function toPayloadJson(event: RunEvent): string {
  // The cause is told in the correlation.
  const { by: _by, ...said } = event.payload;
  const facts = JSON.stringify(said);
  // What waits for a person is not shown to watchers.
  if (event.value === undefined || event.type === "node.blocked") return facts;
  const own = `"${VALUE_KEYS[event.type] ?? "details"}":${event.value}`;
  return facts === "{}" ? `{${own}}` : `${facts.slice(0, -1)},${own}}`;
}
