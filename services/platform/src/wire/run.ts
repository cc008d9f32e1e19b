// A run and its node executions as clients see them.

import { create } from "@bufbuild/protobuf";
import type { RunState } from "@pawl/core/log/state";
import {
  NodeRunSchema,
  RunSchema,
  type NodeRun as WireNodeRun,
  type Run as WireRun,
} from "@pawl/proto/pawl/v1/run_pb";
import type { RunRecord } from "../store/runs.ts";
import { toJsonBytes, toTimestamp, traceIdOf } from "./scalar.ts";
import { toWireNodeStatus, toWireRunKind, toWireRunStatus } from "./status.ts";

/** The run as lists show it: without input, output and nodes. */
export function toWireRun(run: RunRecord): WireRun {
  const wire = create(RunSchema, {
    runId: run.runId,
    workflowId: run.workflowId ?? "",
    workflowVersion: run.workflowVersion,
    kind: toWireRunKind(run.kind),
    status: toWireRunStatus(run.status),
    hasFailures: run.hasFailures,
    lastEventId: BigInt(run.lastSeq),
    errorMessage: run.errorMessage ?? "",
    createTime: toTimestamp(run.createdAt),
    deadlineTime: toTimestamp(run.deadlineAt),
    traceId: traceIdOf(run.traceparent),
    priority: run.priority,
  });
  if (run.endedAt !== null) wire.endTime = toTimestamp(run.endedAt);
  return wire;
}

/**
 * The run whole. Where the log was read later than the row, what the log says wins, so that status, nodes and last_event_id of
 * one answer belong to the same moment.
 */
export function toWireRunWithNodes(run: RunRecord, state: RunState): WireRun {
  const wire = toWireRun(run);
  if (state.lastSeq > run.lastSeq) wire.status = toWireRunStatus(state.status);
  wire.hasFailures ||= state.hasFailures;
  wire.lastEventId = BigInt(state.lastSeq);
  wire.inputJson = toJsonBytes(state.input);
  wire.outputJson = toJsonBytes(state.output);
  if (state.message !== undefined) wire.errorMessage = state.message;
  if (state.endedAt !== undefined) wire.endTime = toTimestamp(state.endedAt);
  wire.nodes = toWireNodeRuns(state);
  return wire;
}

/** Every node execution of a folded run, in the order of the definition. */
export function toWireNodeRuns(state: RunState): WireNodeRun[] {
  return state.graph.nodes.flatMap(({ index, definition }) => {
    const node = state.nodes[index];
    if (node === undefined) return [];
    const wire = create(NodeRunSchema, {
      nodeId: definition.id,
      iteration: 0,
      status: toWireNodeStatus(node.status),
      attempt: node.attempt,
      handle: node.handle ?? "",
      outputJson: toJsonBytes(node.output),
      errorMessage: node.message ?? "",
      lostDeliveries: node.lostDeliveries,
    });
    if (node.startedAt !== undefined) wire.startTime = toTimestamp(node.startedAt);
    if (node.settledAt !== undefined) wire.endTime = toTimestamp(node.settledAt);
    return [wire];
  });
}
