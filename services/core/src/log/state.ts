// The state of a run: what `fold.ts` makes of its log. One mutable object per run, owned by whoever folds it; the planner
// only reads it. Nodes are kept by their dense index in the graph.

import type { Graph } from "../definition/graph.ts";
import type { RunId } from "../name/ids.ts";
import type { NodeStatus, RunKind, RunStatus } from "./event.ts";

export interface NodeState {
  status: NodeStatus;
  /** The newest attempt, from 1; 0 before the node was first queued. */
  attempt: number;
  /** Epoch of the live claim while running, of the last one afterwards; 0 before. */
  epoch: number;
  handle: string | undefined;
  /** Epoch of the last claim that ended with an outcome: the same outcome again is a duplicate, not a stranger. */
  reportedEpoch: number;
  /** Output as JSON text, once completed. */
  output: string | undefined;
  /** Size of `output` in UTF-8, so that a child's context is bounded without building it. */
  outputBytes: number;
  message: string | undefined;
  lostDeliveries: number;
  startedAt: number | undefined;
  settledAt: number | undefined;
  /** What follows this node waits until then (a delay's doing). */
  releaseAt: number | undefined;
  /** While queued: not before this time. */
  notBefore: number | undefined;
  /** Join counters over incoming edges, kept by the fold so that a decision never scans the parents. */
  settledParents: number;
  takenParents: number;
  failedParents: number;
}

export interface RunState {
  readonly runId: RunId;
  readonly graph: Graph;
  status: RunStatus;
  kind: RunKind;
  /** Seq of the newest folded event. */
  lastSeq: number;
  input: string;
  inputBytes: number;
  output: string | undefined;
  message: string | undefined;
  deadlineAt: number;
  startedAt: number;
  endedAt: number | undefined;
  hasFailures: boolean;
  readonly nodes: NodeState[];
  /** How many nodes are not settled yet; the verdict is due when it reaches 0. */
  unsettledCount: number;
  /** Pending nodes whose counters changed since the planner last looked: the planner's only work list. */
  readonly frontier: Set<number>;
  /** Completed nodes that have an output variable, in log order, and their size in a context. */
  readonly variables: number[];
  variablesBytes: number;
  /** A node that fails the whole run failed, and the run is not over yet. */
  fatalNode: number | undefined;
  /** The node that failed first; names the cause in run.failed. */
  firstFailedNode: number | undefined;
}
