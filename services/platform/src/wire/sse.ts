// An event as one line of JSON for SSE. The user's JSON is embedded as text: the gateway checked it on arrival. Parsing and printing it
// again would cost time and change its numbers.

import { causeOf } from "@pawl/core/log/cause";
import type { RunEvent } from "@pawl/core/log/event";
import { rowOf } from "@pawl/core/log/event-table";
import type { EventScope } from "./event.ts";

/** The event in its envelope, as one line of JSON text. */
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
  // The correlation already contains the cause.
  const { by: _by, ...rest } = event.payload;
  const facts = JSON.stringify(rest);
  // Watchers do not see a value that waits for a person.
  if (event.value === undefined || event.type === "node.blocked") return facts;
  const own = `"${rowOf(event.type)?.valueKey ?? "details"}":${event.value}`;
  return facts === "{}" ? `{${own}}` : `${facts.slice(0, -1)},${own}}`;
}
