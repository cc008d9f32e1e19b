// Folds a batch of events into what the page knows. Pure. Survives the race of a resumed stream: an event at or before the
// cursor is dropped, so each counts exactly once whatever was sent twice. That none is missing is the watch's promise.

import { plainEvent, runStatusName } from "@pawl/client";
import { isFinal, isSettled } from "@pawl/core/log/event";
import type { RunStatus } from "@pawl/core/log/event";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import type { RunStatus as WireStatus } from "@pawl/proto/pawl/v1/run_pb";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { jsonText } from "../ui/json-text.ts";
import { reduceNode } from "./reduce-node.ts";
import { emptyNode, nodeKey } from "./view.ts";
import type { NodeView, RunView } from "./view.ts";

type Draft = { -readonly [Key in keyof RunView]: RunView[Key] };

/** The status of the log's vocabulary for the one on the wire. */
export const runStatus = (status: WireStatus): RunStatus => runStatusName(status) as RunStatus; // the enum mirrors the union word for word

/** The fact of an event as compact JSON text. */
export const payloadText = (event: RunEvent): string =>
  JSON.stringify(plainEvent(event)["payload"]);

/** When an event was committed, in milliseconds. */
export const eventAt = (event: RunEvent): number =>
  event.time === undefined ? 0 : timestampMs(event.time);

/** Folds `events` into `view`. */
export function reduceEvents(view: RunView, events: readonly RunEvent[]): RunView {
  const fresh = events.filter((event) => Number(event.eventId) > view.lastSeq);
  if (fresh.length === 0) return view;
  const nodes = new Map(view.nodes);
  const rows = [...view.rows];
  const draft: Draft = { ...view, nodes, rows };
  for (const event of fresh) {
    const seq = Number(event.eventId);
    if (seq <= draft.lastSeq) continue;
    draft.lastSeq = seq;
    const at = eventAt(event);
    const { type, nodeId, iteration, attempt } = event;
    rows.push({ seq, type, nodeId, iteration, attempt, at, payload: payloadText(event) });
    if (nodeId !== "") {
      const key = nodeKey(nodeId, iteration);
      const before = nodes.get(key) ?? emptyNode(nodeId, iteration);
      const after = reduceNode(before, event, at);
      nodes.set(key, after);
      if (iteration > 0 && !isSettled(before.status) && isSettled(after.status))
        countSettled(nodes, nodeId);
    }
    reduceRun(draft, event, at);
  }
  return draft;
}

/** One more iteration of a map or a loop is over. */
function countSettled(nodes: Map<string, NodeView>, nodeId: string): void {
  const node = nodes.get(nodeId);
  if (node !== undefined) nodes.set(nodeId, { ...node, settledCount: node.settledCount + 1 });
}

function reduceRun(draft: Draft, event: RunEvent, at: number): void {
  const fact = event.fact;
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- a newer gateway may send facts this console does not know
  switch (fact.case) {
    case "runStarted":
      // A run that has limits begins with a change of status.
      draft.status = (fact.value.slot ?? fact.value.rate) ? "pending" : "running";
      draft.startedAt = at;
      draft.input = jsonText(fact.value.inputJson);
      return;
    case "runStatusChanged":
      draft.status = runStatus(fact.value.to);
      return;
    case "runCompleted":
      draft.output = jsonText(fact.value.outputJson);
      draft.hasFailures = fact.value.hasFailures;
      return end(draft, "completed", "", at);
    case "runFailed":
      draft.hasFailures = true;
      draft.failedNodeId = fact.value.failedNodeId;
      return end(draft, "failed", fact.value.message, at);
    case "runCancelled":
      return end(draft, "cancelled", fact.value.reason, at);
    case "runTimedOut":
      return end(draft, "timeout", "The run's deadline passed.", at);
    case "nodeCompleted":
      if (fact.value.handle === "error") draft.hasFailures = true;
      return;
    case "nodeFailed":
    case "nodeTimedOut":
      draft.hasFailures = true;
      return;
    default: // Facts of nodes, and facts newer than this console, leave the run as it is.
  }
}

function end(draft: Draft, status: RunStatus, message: string, at: number): void {
  if (isFinal(draft.status)) return;
  draft.status = status;
  draft.message = message;
  draft.endedAt = at;
}
