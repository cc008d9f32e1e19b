// The record of a run: how it ended, or how it is as long as it runs. One function makes it from the folded log. The gateway sends it to
// callers, and the scheduler puts it into webhooks.

import { LIMITS } from "../data/limits.ts";
import { utf8Bytes } from "../data/utf8.ts";
import { classOf, type Failure } from "../fault/cause.ts";
import { isFinal, type RunStatus } from "./event.ts";
import { runStatus } from "./fold.ts";
import { DEADLINE_PASSED, stopCause } from "./run-events.ts";
import type { RunState } from "./state.ts";
import { workflowState } from "./workflow-state.ts";
import { isoTime, workflowStateJson } from "./workflow-state-json.ts";
import type { WorkflowState } from "./workflow-state-shape.ts";

/** Why a run did not complete. */
export interface RunException extends Failure {
  readonly message: string;
  /** The node that failed the run. Of a run that did not fail: the node that failed first. Empty if none did. */
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

/** The record after the folded log. `now` is the time of the read, if it is not about the past. */
export function runResult(state: RunState, workflowId: string, now?: number): RunResult {
  const shown = workflowState(state, { workflowId, now });
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

/** Why a run ended without completing. Undefined for a live run, and for one that completed. */
export function exceptionOf(state: RunState): RunException | undefined {
  const { status, message = "", firstFailedNode = -1, nodes, graph } = state;
  if (!isFinal(status) || status === "completed") return undefined;
  if (state.failure !== undefined) return { ...state.failure, message };
  const nodeId = graph.nodes[firstFailedNode]?.definition.id ?? "";
  const { details } = nodes[firstFailedNode]?.failure ?? {};
  const cause = status === "timeout" ? DEADLINE_PASSED : stopCause(state.stop);
  return {
    ...{ cause, failureClass: classOf({ cause }), message, nodeId },
    ...(details === undefined ? {} : { details }),
  };
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
  const texts = {
    exception: exceptionMember(result.exception, fit),
    output: fit("output", output),
    state: fit("state", state),
  };
  const head = JSON.stringify({
    run_id: result.runId,
    workflow_id: result.workflowId,
    workflow_version: result.workflowVersion,
    status: result.status,
    has_failures: result.hasFailures,
    values_left_out: leftOut.length === 0 ? undefined : leftOut,
  });
  const values = `"output":${texts.output},"state":${texts.state}`;
  return `${head.slice(0, -1)}${texts.exception},${values}}`;
}

/** The member `exception` with its comma, or nothing. Its details are JSON of the user and keep their spelling. */
function exceptionMember(
  exception: RunException | undefined,
  fit: (name: string, text: string) => string,
): string {
  if (exception === undefined) return "";
  const { cause, failureClass, message, nodeId, details } = exception;
  const head = JSON.stringify({ cause, failure_class: failureClass, message, node_id: nodeId });
  const member = details === undefined ? "" : `,"details":${fit("exception.details", details)}`;
  return `,"exception":${head.slice(0, -1)}${member}}`;
}

/** An event as it is sent. The first parts come from the row of the delivery. */
interface SentEvent {
  readonly deliveryId: string;
  readonly eventType: string;
  readonly eventId: number;
  /** The last event that the record knows. Null in a delivery of an earlier version. */
  readonly lastEventId: number | null;
  readonly nodeId: string;
  readonly iteration: number;
  /** The record by `resultJson`. */
  readonly result: string;
  readonly at: number;
  readonly runStartedAt: number | null;
  readonly runEndedAt: number | null;
}

/**
 * The body of a webhook: the same text for every attempt. So the delivery stands in its record as it was before the first call. The record
 * is of the commit of the event: it knows the later events of that commit, and `last_event_id` names the last of them.
 */
export function webhookBody(event: SentEvent): string {
  const { deliveryId, eventType, eventId, nodeId, iteration, result, at } = event;
  const node = nodeId === "" ? {} : { node_id: nodeId, iteration };
  const record = JSON.stringify({
    last_event_id: event.lastEventId ?? eventId,
    run_started_at: isoTime(event.runStartedAt ?? undefined),
    run_ended_at: isoTime(event.runEndedAt ?? undefined),
    webhooks: [
      {
        ...{ delivery_id: deliveryId, event_type: eventType, state: "pending" },
        ...{ attempts: 0, status_code: 0, error: "" },
      },
    ],
  });
  const head = JSON.stringify({ type: eventType, timestamp: isoTime(at) });
  const data = JSON.stringify({ event_id: eventId, ...node });
  const joined = `${result.slice(0, -1)},${record.slice(1)}`;
  return `${head.slice(0, -1)},"data":${data.slice(0, -1)},"result":${joined}}}`;
}
