// A run and its node executions as clients see them.

import { create } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import { isSettled } from "@pawl/core/log/event";
import { runStatus } from "@pawl/core/log/fold";
import { EMPTY_LEDGER } from "@pawl/core/log/ledger";
import { exceptionOf } from "@pawl/core/log/result";
import { metadataText } from "@pawl/core/log/metadata";
import type { AcceptedRun } from "@pawl/core/log/start";
import { turnsBefore } from "@pawl/core/log/conversation";
import type { ScopeState } from "@pawl/core/log/scope-state";
import type { ExecutionState, RunState } from "@pawl/core/log/state";
import { undoOf } from "@pawl/core/log/undo-iteration";
import { workflowState } from "@pawl/core/log/workflow-state";
import type { Taint } from "@pawl/core/policy/taint";
import { PauseSchema } from "@pawl/proto/pawl/v1/pause_pb";
import {
  CompensationSchema,
  BudgetSchema,
  NodeRunSchema,
  RunSchema,
  RunUsageSchema,
  type TaintLabel,
  TaintLabelSchema,
  type NodeRun as WireNodeRun,
  type Run as WireRun,
} from "@pawl/proto/pawl/v1/run_pb";
import type { RunRecord } from "../store/runs/runs.ts";
import { toWireCompensation } from "./compensation.ts";
import { toWireBudget, toWireLedger } from "./budget.ts";
import { toWireScope } from "./pause.ts";
import { toWireState } from "./state.ts";
import { toJsonBytes, toTimestamp, toTimestampOrNone, traceIdOf } from "./scalar.ts";
import {
  toWireFailureClass,
  toWireNodeStatus,
  toWireRunKind,
  toWireRunStatus,
  toWireStop,
} from "./enum.ts";

export const runNotFound = (runId: string): EngineError =>
  new EngineError("RUN_NOT_FOUND", `There is no run ${runId}.`, { metadata: { run_id: runId } });

/** The run as in lists: without input, output and nodes. */
export function toWireRun(run: RunRecord): WireRun {
  const { quarantine, schedule, parent } = run;
  return create(RunSchema, {
    ...acceptedFields(run),
    hasFailures: run.hasFailures,
    errorMessage: run.errorMessage ?? "",
    failureClass: toWireFailureClass(run.failureClass ?? undefined),
    parentRunId: parent?.runId ?? "",
    parentNodeId: parent?.nodeId ?? "",
    parentIteration: parent?.iteration ?? 0,
    endTime: toTimestampOrNone(run.endedAt),
    restoreTime: toTimestampOrNone(run.restoredAt),
    quarantine:
      quarantine === null ? undefined : { ...quarantine, time: toTimestamp(quarantine.at) },
    metadataJson:
      run.metadata === null ? new Uint8Array(0) : toJsonBytes(JSON.stringify(run.metadata)),
    scheduleId: schedule?.scheduleId ?? "",
    scheduleTime: toTimestampOrNone(schedule?.at),
    stop: toWireStop(run.stop),
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
  threadId: run.threadId ?? "",
  assistantId: run.assistantId ?? "",
  status: toWireRunStatus(run.status),
  lastEventId: BigInt(run.lastSeq),
  priority: run.priority,
  createTime: toTimestamp(run.createdAt),
  deadlineTime: toTimestamp(run.deadlineAt),
  startAt: toTimestampOrNone(run.startAt),
  traceId: traceIdOf(run.traceparent),
});

/**
 * The whole run after an event of its log. The log was read later than the row, or up to an earlier event, so the log counts. Status, nodes
 * and last_event_id of one answer belong to the same moment. `now` is the time of the read, if it is not about the past.
 */
export function toWireRunWithNodes(
  run: RunRecord,
  state: RunState,
  settled?: SettledItems,
  now?: number,
): WireRun {
  const wire = toWireRun(run);
  wire.status = toWireRunStatus(runStatus(state));
  wire.hasFailures = state.hasFailures;
  wire.lastEventId = BigInt(state.lastSeq);
  wire.deadlineTime = toTimestamp(state.deadlineAt);
  wire.inputJson = toJsonBytes(state.input);
  wire.metadataJson = toJsonBytes(metadataText(state));
  wire.outputJson = toJsonBytes(state.output);
  wire.errorMessage = state.message ?? "";
  const exception = exceptionOf(state);
  wire.cause = exception?.cause ?? "";
  wire.failureClass = toWireFailureClass(exception?.failureClass);
  wire.stop = toWireStop(state.stop);
  wire.endTime = toTimestampOrNone(state.endedAt);
  wire.state = toWireState(workflowState(state, { workflowId: run.workflowId ?? "", now }));
  if (state.pause !== undefined) {
    const { scope, who, reason, waitingFor = "" } = state.pause;
    const name = scope === "run" ? run.runId : (run.workflowId ?? "");
    const held = { scope: toWireScope(scope), name, by: who, reason, waitingFor };
    wire.pause = create(PauseSchema, { ...held, sinceTime: toTimestamp(state.waitingSince ?? 0) });
  }
  wire.inputTaint = toWireLabels(state.inputTaint);
  wire.outputTaint = toWireLabels(state.outputTaint);
  wire.usage = create(RunUsageSchema, toWireLedger(state.ledger));
  if (state.budget !== undefined) wire.budget = create(BudgetSchema, toWireBudget(state.budget));
  wire.nodes = toWireNodeRuns(state, settled);
  const compensation = toWireCompensation(state);
  if (compensation !== undefined) {
    const executions = undosOf(state);
    wire.compensation = create(CompensationSchema, { ...compensation, executions });
  }
  const { undoes } = state;
  if (undoes !== undefined) {
    wire.undoesRunId = undoes.runId;
    wire.undoesNodeId = undoes.nodeId;
    wire.undoesIteration = undoes.iteration;
  }
  return wire;
}

const toWireLabels = (taint: Taint | undefined): TaintLabel[] =>
  (taint ?? []).map((mark) => create(TaintLabelSchema, mark));

/** Texts of iterations are cut, because there may be ten thousand and a message has a limit. */
const ITEM_MESSAGE_LENGTH = 120;

/** The messages of settled iterations, which never change. A caller that reads a run at several moments keeps them. */
export type SettledItems = WeakMap<ExecutionState, WireNodeRun>;

/** Every node execution of a folded run, in the order of the definition. The iterations of a node follow it. */
export function toWireNodeRuns(state: RunState, settled?: SettledItems): WireNodeRun[] {
  return state.graph.nodes.flatMap(({ index, definition: { id } }) => {
    const node = state.nodes[index];
    if (node === undefined) return [];
    const wire = toWireNodeRun(id, node.base, node);
    wire.round = node.round;
    if (node.ledger !== EMPTY_LEDGER)
      wire.usage = create(RunUsageSchema, toWireLedger(node.ledger));
    wire.errorMessage = node.message ?? "";
    wire.handle = node.handle ?? "";
    wire.outputJson = toJsonBytes(node.output);
    if (node.status === "completed" && node.releaseAt !== undefined)
      wire.releaseTime = toTimestamp(node.releaseAt);
    const items = node.scope?.items ?? [];
    const toWireItem = (item: ExecutionState, at: number): WireNodeRun => {
      const each = toWireNodeRun(id, node.base + at + 1, item);
      return Object.assign(each, { item: at + 1, round: node.round, ...stepOf(node.scope, at) });
    };
    return [
      wire,
      ...items.map((item, at) => {
        const known = settled?.get(item);
        if (known !== undefined) return known;
        const made = toWireItem(item, at);
        if (isSettled(item.status)) settled?.set(item, made);
        return made;
      }),
    ];
  });
}

/** Which turn of an agent an iteration belongs to, and the tool that it calls. Nothing for an item of a map or a loop. */
function stepOf(scope: ScopeState | undefined, at: number) {
  if (scope === undefined || scope.calls.length === 0) return {};
  return { turn: turnsBefore(scope, at + 1), tool: scope.calls[at]?.name ?? "" };
}

/** The first compensations, in the order of completion. */
const undosOf = ({ undos, graph }: RunState): WireNodeRun[] =>
  [...undos.values().take(LIMITS.undosShown)].map((undo) => {
    const id = graph.nodes[undo.nodeIndex]?.definition.id ?? "";
    const wire = toWireNodeRun(id, undoOf(undo.iteration), undo);
    return Object.assign(wire, { undoes: undo.iteration });
  });

function toWireNodeRun(nodeId: string, iteration: number, execution: ExecutionState): WireNodeRun {
  const { message = "", hold, wait, failure } = execution;
  return create(NodeRunSchema, {
    nodeId,
    iteration,
    status: toWireNodeStatus(execution.status),
    attempt: execution.attempt,
    errorMessage: message.slice(0, ITEM_MESSAGE_LENGTH),
    cause: failure?.cause ?? "",
    failureClass: toWireFailureClass(failure?.failureClass),
    lostDeliveries: execution.lostDeliveries,
    hold: hold && {
      reason: hold.reason,
      phase: hold.ending.phase,
      outputJson: toJsonBytes(hold.output),
      approvalId: hold.approval?.approvalId ?? "",
      message: hold.approval?.message ?? "",
      deadlineTime: toTimestampOrNone(hold.deadlineAt),
      taint: toWireLabels(hold.ending.taint),
    },
    taint: toWireLabels(execution.taint),
    readTaint: toWireLabels(execution.readTaint),
    signal: wait && {
      name: wait.name,
      sinceTime: toTimestamp(wait.since),
      deadlineTime: toTimestampOrNone(wait.deadlineAt),
    },
    startTime: toTimestampOrNone(execution.startedAt),
    endTime: toTimestampOrNone(execution.settledAt),
  });
}
