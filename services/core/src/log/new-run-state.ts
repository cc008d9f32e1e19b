// The state of a run before its first event: every node is pending.

import type { Graph } from "../definition/graph.ts";
import type { RunId } from "../name/ids.ts";
import type { ExecutionState, NodeState, RunState } from "./state.ts";

/** The state of a run whose log is empty. */
export function newRunState(runId: RunId, graph: Graph): RunState {
  return {
    runId,
    graph,
    status: "pending",
    kind: "saved",
    lastSeq: 0,
    input: "null",
    inputBytes: 4,
    output: undefined,
    message: undefined,
    deadlineAt: 0,
    firstDeadlineAt: 0,
    pause: undefined,
    waitingSince: undefined,
    clockStoppedAt: undefined,
    parent: undefined,
    slot: undefined,
    rate: undefined,
    isAdmitted: false,
    depth: 0,
    startedAt: 0,
    endedAt: undefined,
    hasFailures: false,
    nodes: graph.nodes.map(newNodeState),
    unsettledCount: graph.nodes.length,
    activeCount: 0,
    blockedCount: 0,
    childCount: 0,
    frontier: new Set(),
    firedJoins: new Set(),
    scopes: new Set(),
    variables: [],
    variablesBytes: 0,
    fatalNode: undefined,
    firstFailedNode: undefined,
  };
}

/** An execution that no event has named yet. */
export const newExecutionState = (): ExecutionState => ({
  status: "pending",
  attempt: 0,
  // The first event of every log.
  causeSeq: 1,
  epoch: 0,
  executorId: undefined,
  reportedEpoch: 0,
  output: undefined,
  outputBytes: 0,
  message: undefined,
  lostDeliveries: 0,
  startedAt: undefined,
  settledAt: undefined,
  notBefore: undefined,
  childRunId: undefined,
  hold: undefined,
  decided: undefined,
  isInputApproved: false,
  slot: undefined,
  rate: undefined,
});

/** A node that no event has named yet. */
export const newNodeState = (): NodeState => ({
  ...newExecutionState(),
  handle: undefined,
  releaseAt: undefined,
  scope: undefined,
  settledParents: 0,
  takenParents: 0,
  failedParents: 0,
});
