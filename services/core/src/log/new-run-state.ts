// The state of a run before its first event: everything pending, nothing known.

import type { Graph } from "../definition/graph.ts";
import type { RunId } from "../name/ids.ts";
import type { NodeState, RunState } from "./state.ts";

/** The state of a run whose log is still empty. */
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
    startedAt: 0,
    endedAt: undefined,
    hasFailures: false,
    nodes: graph.nodes.map(newNodeState),
    unsettledCount: graph.nodes.length,
    frontier: new Set(),
    variables: [],
    variablesBytes: 0,
    fatalNode: undefined,
    firstFailedNode: undefined,
  };
}

const newNodeState = (): NodeState => ({
  status: "pending",
  attempt: 0,
  epoch: 0,
  handle: undefined,
  reportedEpoch: 0,
  output: undefined,
  outputBytes: 0,
  message: undefined,
  lostDeliveries: 0,
  startedAt: undefined,
  settledAt: undefined,
  releaseAt: undefined,
  notBefore: undefined,
  settledParents: 0,
  takenParents: 0,
  failedParents: 0,
});
