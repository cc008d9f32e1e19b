// The log as the two pushes a page needs: `workflow_node_update` and `workflow_status_update`. A projection of
// each event by itself, so any cursor may start it; events that change no status give nothing. The user's JSON is embedded as
// the text it is.

import type { NodeStatus, RunEvent, RunStatus } from "@pawl/core/log/event";

export interface PushedUpdate {
  readonly name: "workflow_node_update" | "workflow_status_update";
  /** One line of JSON. */
  readonly data: string;
}

/** What an event pushes, if anything. */
export function toUpdate(event: RunEvent): PushedUpdate | undefined {
  switch (event.type) {
    case "run.started":
      return ofRun(event, "running", `{"input":${event.value ?? "null"}}`);
    case "run.status.changed":
      return ofRun(event, event.payload.to);
    case "run.completed":
      return ofRun(event, "completed", `{"output":${event.value ?? "null"}}`);
    case "run.failed":
      return ofRun(event, "failed", errorJson(event.payload.message));
    case "run.cancelled":
      return ofRun(event, "cancelled", errorJson(event.payload.reason));
    case "run.timed_out":
      return ofRun(event, "timeout", errorJson("the run passed its deadline"));
    case "node.queued":
      return ofNode(event, "queued");
    case "node.started":
      return ofNode(event, "running");
    case "node.expanded":
      return ofNode(event, "waiting");
    case "node.completed":
      return ofNode(event, "completed", { output: event.value ?? "null" });
    case "node.retried":
      return ofNode(event, "retrying", { error: event.payload.message });
    case "node.failed":
      return ofNode(event, "failed", { error: event.payload.message });
    case "node.timed_out":
      return ofNode(event, "timed_out", {
        error: `timed out after ${event.payload.timeoutMs} ms`,
      });
    case "run.recovered":
      return ofNode(event, "retrying", { error: event.payload.reason });
    case "node.blocked":
      return ofNode(event, "waiting", { error: event.payload.reason });
    case "node.cancelled":
      return ofNode(event, "cancelled", { error: event.payload.reason });
    case "node.skipped":
      return ofNode(event, "skipped", { error: event.payload.reason });
    case "node.invalidated":
      return ofNode(event, "invalidated", { error: event.payload.reason });
    // A decision changes no status by itself: what follows from it in the same commit does.
    case "node.decided":
    case "run.metadata.set":
    case "node.stream.delta":
    case "node.log":
    case "moderation.flagged":
    case "contract.violated":
    default:
      return undefined;
  }
}

const errorJson = (message: string): string => `{"error":${JSON.stringify(message)}}`;

function ofRun({ runId }: RunEvent, status: RunStatus, context = "null"): PushedUpdate {
  const data = `{"instanceID":"${runId}","status":"${status}","contextData":${context}}`;
  return { name: "workflow_status_update", data };
}

function ofNode(
  { runId, nodeId, iteration }: RunEvent,
  status: NodeStatus,
  said: { readonly output?: string; readonly error?: string } = {},
): PushedUpdate {
  const { output = "null", error } = said;
  const place = `"instanceID":"${runId}","nodeID":${JSON.stringify(nodeId)},"iteration":${iteration}`;
  const fault = error === undefined ? "null" : JSON.stringify(error);
  return {
    name: "workflow_node_update",
    data: `{${place},"status":"${status}","output":${output},"error":${fault}}`,
  };
}
