// A run and its node executions as clients see them.

import { create } from "@bufbuild/protobuf";
import type { AcceptedRun } from "@pawl/core/log/start";
import type { ExecutionState, RunState } from "@pawl/core/log/state";
import { PauseSchema } from "@pawl/proto/pawl/v1/pause_pb";
import {
  NodeRunSchema,
  RunSchema,
  type NodeRun as WireNodeRun,
  type Run as WireRun,
} from "@pawl/proto/pawl/v1/run_pb";
import type { RunRecord } from "../store/runs/runs.ts";
import { toWireScope } from "./pause.ts";
import { toJsonBytes, toTimestamp, toTimestampOrNone, traceIdOf } from "./scalar.ts";
import { toWireNodeStatus, toWireRunKind, toWireRunStatus } from "./enum.ts";

/** The run as in lists: without input, output and nodes. */
export function toWireRun(run: RunRecord): WireRun {
  const { quarantine, schedule, parent } = run;
  return create(RunSchema, {
    ...acceptedFields(run),
    hasFailures: run.hasFailures,
    errorMessage: run.errorMessage ?? "",
    parentRunId: parent?.runId ?? "",
    parentNodeId: parent?.nodeId ?? "",
    parentIteration: parent?.iteration ?? 0,
    endTime: toTimestampOrNone(run.endedAt),
    quarantine:
      quarantine === null ? undefined : { ...quarantine, time: toTimestamp(quarantine.at) },
    scheduleId: schedule?.scheduleId ?? "",
    scheduleTime: toTimestampOrNone(schedule?.at),
  });
}

/** The run at the moment of its acceptance, without a read. */
export const toWireAcceptedRun = (run: AcceptedRun): WireRun =>
  create(RunSchema, acceptedFields(run));

const acceptedFields = (run: AcceptedRun) => ({
  runId: run.runId,
  workflowId: run.workflowId ?? "",
  workflowVersion: run.workflowVersion,
  kind: toWireRunKind(run.kind),
  status: toWireRunStatus(run.status),
  lastEventId: BigInt(run.lastSeq),
  priority: run.priority,
  createTime: toTimestamp(run.createdAt),
  deadlineTime: toTimestamp(run.deadlineAt),
  traceId: traceIdOf(run.traceparent),
});

/**
 * The whole run. If the log was read later than the row, the log counts. So status, nodes and last_event_id of one answer belong to the
 * same moment.
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
  if (state.pause !== undefined) {
    const { scope, who, reason } = state.pause;
    const name = scope === "run" ? run.runId : (run.workflowId ?? "");
    const held = { scope: toWireScope(scope), name, by: who, reason };
    wire.pause = create(PauseSchema, { ...held, sinceTime: toTimestamp(state.waitingSince ?? 0) });
  }
  wire.nodes = toWireNodeRuns(state);
  return wire;
}

/** Texts of iterations are cut, because there may be ten thousand and a message has a limit. */
const ITEM_MESSAGE_LENGTH = 120;

/** Every node execution of a folded run, in the order of the definition. The iterations of a node follow it. */
export function toWireNodeRuns(state: RunState): WireNodeRun[] {
  return state.graph.nodes.flatMap(({ index, definition: { id } }) => {
    const node = state.nodes[index];
    if (node === undefined) return [];
    const wire = toWireNodeRun(id, node.base, node);
    wire.round = node.round;
    wire.errorMessage = node.message ?? "";
    wire.handle = node.handle ?? "";
    wire.outputJson = toJsonBytes(node.output);
    if (node.status === "completed" && node.releaseAt !== undefined)
      wire.releaseTime = toTimestamp(node.releaseAt);
    const items = node.scope?.items ?? [];
    return [
      wire,
      ...items.map((item, at) => {
        const each = toWireNodeRun(id, node.base + at + 1, item);
        return Object.assign(each, { item: at + 1, round: node.round });
      }),
    ];
  });
}

function toWireNodeRun(nodeId: string, iteration: number, execution: ExecutionState): WireNodeRun {
  const { message = "", hold } = execution;
  return create(NodeRunSchema, {
    nodeId,
    iteration,
    status: toWireNodeStatus(execution.status),
    attempt: execution.attempt,
    errorMessage: message.slice(0, ITEM_MESSAGE_LENGTH),
    lostDeliveries: execution.lostDeliveries,
    hold: hold && {
      reason: hold.reason,
      phase: hold.ending.phase,
      outputJson: toJsonBytes(hold.output),
      approvalId: hold.approval?.approvalId ?? "",
      message: hold.approval?.message ?? "",
      deadlineTime: toTimestampOrNone(hold.deadlineAt),
    },
    startTime: toTimestampOrNone(execution.startedAt),
    endTime: toTimestampOrNone(execution.settledAt),
  });
}
