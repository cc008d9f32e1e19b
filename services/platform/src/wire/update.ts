// Turns the log into the two pushes that a page needs: `workflow_node_update` and `workflow_status_update`. The gateway makes a push from
// one event. The push of a run also contains its context at that event. So a stream may start at any cursor. An event that changes no
// status gives no push. The user's JSON is embedded as text.

import type { NodeStatus, RunEvent, RunStatus } from "@pawl/core/log/event";
import { rowOf } from "@pawl/core/log/event-table";
import { nodeStatusAfter, reasonText, runStatusAfter } from "@pawl/core/log/meaning";

interface PushedUpdate {
  readonly name: "workflow_node_update" | "workflow_status_update";
  /** One line of JSON. */
  readonly data: string;
}

/** Whether the push of an event needs the context of its run. */
export const needsContext = (event: RunEvent): boolean => runStatusAfter(event) !== undefined;

/** The push of an event. Undefined if the event changes no status. `context` is the run's context at this event, a JSON object. */
export function toUpdate(event: RunEvent, context: string): PushedUpdate | undefined {
  const ofItsRun = runStatusAfter(event);
  if (ofItsRun !== undefined) return ofRun(event, ofItsRun, context);
  const ofItsNode = nodeStatusAfter(event.type);
  return ofItsNode === undefined ? undefined : ofNode(event, ofItsNode);
}

function ofRun(event: RunEvent, status: RunStatus, context: string): PushedUpdate {
  const members = [context.slice(1, -1), endOf(event)].filter((text) => text !== "");
  const contextData = `{${members.join(",")}}`;
  const data = `{"instanceID":"${event.runId}","status":"${status}","contextData":${contextData}}`;
  return { name: "workflow_status_update", data };
}

/** The output or the error of the event. The context has the input. */
function endOf(event: RunEvent): string {
  const key = rowOf(event.type)?.valueKey;
  if (key !== undefined) return key === "input" ? "" : `"${key}":${event.value ?? "null"}`;
  const error = reasonText(event);
  return error === undefined ? "" : `"error":${JSON.stringify(error)}`;
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
