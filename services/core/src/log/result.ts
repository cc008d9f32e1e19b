// The record of a run: how it ended, or how it is as long as it runs. One function makes it from the folded log. The gateway sends it to
// callers, and the scheduler puts it into webhooks.

import { LIMITS } from "../data/limits.ts";
import { utf8Bytes } from "../data/utf8.ts";
import { isFinal, type RunStatus } from "./event.ts";
import { runStatus } from "./fold.ts";
import type { RunState } from "./state.ts";
import { workflowState } from "./workflow-state.ts";
import { isoTime, workflowStateJson } from "./workflow-state-json.ts";
import type { WorkflowState } from "./workflow-state-shape.ts";

/** Why a run did not complete. */
interface RunException {
  readonly cause: string;
  readonly message: string;
  /** The node that failed first; empty if none did. */
  readonly nodeId: string;
}

/** Times are milliseconds since 1970. A field is undefined if the run has no such value. */
export interface RunResult {
  readonly runId: string;
  /** Empty for a test run. */
  readonly workflowId: string;
  readonly workflowVersion: number;
  readonly status: RunStatus;
  /** The output as JSON text. */
  readonly output: string | undefined;
  readonly state: WorkflowState;
  readonly exception: RunException | undefined;
  readonly hasFailures: boolean;
  readonly eventId: number;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
}

/** The record after the folded log. */
export function runResult(state: RunState, workflowId: string): RunResult {
  const shown = workflowState(state, { workflowId });
  return {
    ...{ runId: state.runId, workflowId, workflowVersion: state.workflowVersion },
    status: runStatus(state),
    output: state.output,
    state: shown,
    exception: exceptionOf(state),
    hasFailures: state.hasFailures,
    eventId: state.lastSeq,
    startedAt: shown.startedAt,
    endedAt: state.endedAt,
  };
}

function exceptionOf(state: RunState): RunException | undefined {
  const { status, message = "", firstFailedNode, nodes, graph } = state;
  if (!isFinal(status) || status === "completed") return undefined;
  const nodeId =
    firstFailedNode === undefined ? "" : (graph.nodes[firstFailedNode]?.definition.id ?? "");
  if (status !== "failed") return { cause: status, message, nodeId };
  const cause = state.failure ?? nodes[firstFailedNode ?? -1]?.failure ?? "";
  return { cause, message, nodeId };
}

/**
 * The record as JSON text without its times and its webhooks, which PostgreSQL and the delivery know. JSON of the user keeps its spelling.
 * What does not fit is left out and named.
 */
export function resultJson(result: RunResult): string {
  const { output = "null" } = result;
  // The times of the state are those of the scheduler's fold. The record has the exact ones.
  const timeless = {
    ...result.state,
    startedAt: undefined,
    createdAt: undefined,
    updatedAt: undefined,
  };
  const state = workflowStateJson(timeless);
  let left: number = LIMITS.webhookBytes;
  const leftOut: string[] = [];
  const fit = (name: string, text: string): string => {
    const bytes = utf8Bytes(text);
    if (bytes > left) {
      leftOut.push(name);
      return "null";
    }
    left -= bytes;
    return text;
  };
  const texts = { output: fit("output", output), state: fit("state", state) };
  const head = JSON.stringify({
    run_id: result.runId,
    workflow_id: result.workflowId,
    workflow_version: result.workflowVersion,
    status: result.status,
    exception: result.exception && {
      cause: result.exception.cause,
      message: result.exception.message,
      node_id: result.exception.nodeId,
    },
    has_failures: result.hasFailures,
    values_left_out: leftOut.length === 0 ? undefined : leftOut,
  });
  return `${head.slice(0, -1)},"output":${texts.output},"state":${texts.state}}`;
}

/** An event as it is sent. The first parts come from the row of the delivery. */
interface SentEvent {
  readonly deliveryId: string;
  readonly eventType: string;
  readonly eventId: number;
  readonly nodeId: string;
  readonly iteration: number;
  /** The record by `resultJson`. */
  readonly result: string;
  readonly at: number;
  readonly runStartedAt: number | null;
  readonly runEndedAt: number | null;
}

/** The body of a webhook: the same text for every attempt. */
export function webhookBody(event: SentEvent): string {
  const { deliveryId, eventType, eventId, nodeId, iteration, result, at } = event;
  const node = nodeId === "" ? {} : { node_id: nodeId, iteration };
  const record = JSON.stringify({
    last_event_id: eventId,
    run_started_at: isoTime(event.runStartedAt ?? undefined),
    run_ended_at: isoTime(event.runEndedAt ?? undefined),
    webhooks: [{ delivery_id: deliveryId, event_type: eventType, state: "pending" }],
  });
  const head = JSON.stringify({ type: eventType, timestamp: isoTime(at) });
  const data = JSON.stringify({ event_id: eventId, ...node });
  const joined = `${result.slice(0, -1)},${record.slice(1)}`;
  return `${head.slice(0, -1)},"data":${data.slice(0, -1)},"result":${joined}}}`;
}
