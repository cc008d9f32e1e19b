// The log as the two pushes that a page needs: `workflow_node_update` and `workflow_status_update`. The gateway makes a push from one
// event alone, so a stream may start at any cursor. An event that changes no status gives no push. The user's JSON is embedded as text.

import type { NodeStatus, RunEvent, RunStatus } from "@pawl/core/log/event";
import { rowOf } from "@pawl/core/log/event-table";
import { nodeStatusAfter, reasonText, runStatusAfter } from "@pawl/core/log/meaning";

export interface PushedUpdate {
  readonly name: "workflow_node_update" | "workflow_status_update";
  /** One line of JSON. */
  readonly data: string;
}

/** The push of an event; undefined where it changes no status. */
export function toUpdate(event: RunEvent): PushedUpdate | undefined {
  const ofItsRun = runStatusAfter(event);
  if (ofItsRun !== undefined) return ofRun(event, ofItsRun);
  const ofItsNode = nodeStatusAfter(event.type);
  return ofItsNode === undefined ? undefined : ofNode(event, ofItsNode);
}

function ofRun(event: RunEvent, status: RunStatus): PushedUpdate {
  const data = `{"instanceID":"${event.runId}","status":"${status}","contextData":${contextOf(event)}}`;
  return { name: "workflow_status_update", data };
}

/** The input, the output or the error that the event brings. */
function contextOf(event: RunEvent): string {
  const key = rowOf(event.type)?.valueKey;
  if (key !== undefined) return `{"${key}":${event.value ?? "null"}}`;
  const error = reasonText(event);
  return error === undefined ? "null" : `{"error":${JSON.stringify(error)}}`;
}

function ofNode(event: RunEvent, status: NodeStatus): PushedUpdate {
  const { runId, nodeId, iteration, value = "null" } = event;
  const place = `"instanceID":"${runId}","nodeID":${JSON.stringify(nodeId)},"iteration":${iteration}`;
  const output = status === "completed" ? value : "null";
  const error = JSON.stringify(reasonText(event) ?? null);
  return {
    name: "workflow_node_update",
    data: `{${place},"status":"${status}","output":${output},"error":${error}}`,
  };
}
