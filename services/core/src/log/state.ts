// The state of a run: what `fold.ts` makes of its log. One mutable object per run, owned by whoever folds it; the planner
// only reads it. Nodes are kept by their dense index in the graph; an execution is a node, or one iteration of a node's scope.

import type { Graph } from "../definition/graph.ts";
import type { ApprovalId, ExecutorId, RunId } from "../name/ids.ts";
import type { RateTicket, SlotTicket } from "../policy/limit.ts";
import type {
  ApprovalRequest,
  NodeDecision,
  NodeHold,
  NodeStatus,
  ParentLink,
  PauseNote,
  RunKind,
  RunStatus,
} from "./event.ts";

/** What a person is to decide about. */
export interface HoldState {
  readonly reason: string;
  readonly epoch: number;
  readonly output: string | undefined;
  readonly ending: NodeHold;
  /** Absent in logs from before approvals were kept. */
  readonly approval: ApprovalRequest | undefined;
  /** Until when it may be answered. */
  readonly deadlineAt: number | undefined;
}

/** How a hold ended. */
export interface DecidedState {
  readonly decision: NodeDecision;
  readonly requestId: string;
  readonly approvalId: ApprovalId | undefined;
  /** The response as JSON text, where one was given. */
  readonly response: string | undefined;
}

/** One node execution: what can be queued, claimed and settled by itself. */
export interface ExecutionState {
  status: NodeStatus;
  /** The newest attempt, from 1; 0 before the node was first queued. */
  attempt: number;
  /** Seq of the event that moved it last; while it is pending, of the one that may have made it ready: what follows is its doing. */
  causeSeq: number;
  /** Epoch of the live claim while running, of the last one afterwards; 0 before. */
  epoch: number;
  /** Who holds the live claim while running, who held the last one afterwards. */
  executorId: ExecutorId | undefined;
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
  /** While queued: not before this time. */
  notBefore: number | undefined;
  /** While waiting: the run it waits for. */
  childRunId: RunId | undefined;
  /** While waiting for a person: why, under which claim, and the output that waits as JSON text. */
  hold: HoldState | undefined;
  /** How its newest hold ended. */
  decided: DecidedState | undefined;
  /** A person approved the input: it is not asked about again. */
  isInputApproved: boolean;
  /** The concurrency key it needs a slot of for as long as it is queued or running. */
  slot: SlotTicket | undefined;
  /** The rate its starts count for. */
  rate: RateTicket | undefined;
}

/** The iterations of a map or a loop. */
export interface ScopeState {
  readonly width: number;
  /** Running out of items is a failure: there would be more. */
  readonly isCut: boolean;
  /** The items as a JSON array, while the scope is open. */
  itemsJson: string;
  /** The executions queued so far: iteration n is at n - 1, and the length says which one is next. */
  readonly items: ExecutionState[];
  /** Queued so far and not settled. */
  openCount: number;
  settledCount: number;
  /** The iteration that failed first, in log order. */
  firstFailed: number | undefined;
  /** An iteration ended the loop. */
  isStopped: boolean;
  /** Size of the outputs so far, as the joined array will have them. */
  outputBytes: number;
  /** What follows an iteration waits until then. */
  releaseAt: number | undefined;
}

export interface NodeState extends ExecutionState {
  handle: string | undefined;
  /** What follows this node waits until then (a delay's doing). */
  releaseAt: number | undefined;
  /** Of a map or a loop, once its items are known. */
  scope: ScopeState | undefined;
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
  /** By now: `firstDeadlineAt` and the time for which the clock stood. */
  deadlineAt: number;
  /** As the run was started with. */
  firstDeadlineAt: number;
  /** While the run is paused: by whom, and why. */
  pause: PauseNote | undefined;
  /** Since when the run waits or is paused. */
  waitingSince: number | undefined;
  /** Since when the run's clock stands, and at its end whether it stood; `log/clock.ts` says when it does. */
  clockStoppedAt: number | undefined;
  /** The node execution that waits for this run. */
  parent: ParentLink | undefined;
  /** The concurrency key it holds a slot of while it is live, and the rate its beginning counts for. */
  slot: SlotTicket | undefined;
  rate: RateTicket | undefined;
  /** Whether its nodes may be planned: not before the run has its slot. */
  isAdmitted: boolean;
  /** How many runs are above this one. */
  depth: number;
  startedAt: number;
  endedAt: number | undefined;
  hasFailures: boolean;
  readonly nodes: NodeState[];
  /** How many nodes are not settled yet; the verdict is due when it reaches 0. */
  unsettledCount: number;
  /** Executions that are queued, running or about to be tried again: while there are some, the run is `running`. */
  activeCount: number;
  /** Executions that wait for something outside, a person or a child run. */
  blockedCount: number;
  /** Those of them that wait for a child run. */
  childCount: number;
  /** Pending nodes whose counters changed since the planner last looked: the planner's only work list. */
  readonly frontier: Set<number>;
  /** Joins that fired and cancel whoever is late, and at which the planner has not looked yet. */
  readonly firedJoins: Set<number>;
  /** Nodes whose scope moved since the planner last looked. */
  readonly scopes: Set<number>;
  /** Completed nodes that have an output variable, in log order, and their size in a context. */
  readonly variables: number[];
  variablesBytes: number;
  /** A node that fails the whole run failed, and the run is not over yet. */
  fatalNode: number | undefined;
  /** The node that failed first; names the cause in run.failed. */
  firstFailedNode: number | undefined;
}
