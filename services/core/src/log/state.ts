// The state of a run, which `fold.ts` makes from its log. There is one mutable object per run; the code that folds it owns it, and
// the planner only reads it. Nodes are kept by their index in the graph. An execution is a node, or one iteration of a node's scope.
// The classes give every field its value before the first event. A snapshot names the fields in this order.

import type { Graph } from "../definition/graph.ts";
import type { ApprovalId, ExecutorId, NodeId, RunId } from "../name/ids.ts";
import type { ConcurrencyLimit, RateLimit } from "../policy/limit.ts";
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

/** The fields of a class, without its name. */
type Plain<T> = { [Key in keyof T]: T[Key] };

/** A hold that a person has to decide. */
export interface HoldState {
  readonly reason: string;
  readonly epoch: number;
  readonly output: string | undefined;
  readonly ending: NodeHold;
  /** Undefined in logs of versions that stored no approvals. */
  readonly approval: ApprovalRequest | undefined;
  /** The end of the time to answer. */
  readonly deadlineAt: number | undefined;
}

/** How a hold ended. */
export interface DecidedState {
  readonly decision: NodeDecision;
  readonly requestId: string;
  readonly approvalId: ApprovalId | undefined;
  /** The response as JSON text, where the person gave one. */
  readonly response: string | undefined;
}

/** One node execution: the unit that the scheduler queues, executors claim, and events settle. */
class NewExecution {
  status: NodeStatus = "pending";
  /** The newest attempt, from 1; 0 before the node was first queued. */
  attempt = 0;
  /** The event that causes its next event: the event that moved it last or, while it is pending, that may have made it ready. */
  causeSeq = 1;
  /** The epoch of the live claim while running, and of the last claim afterwards; 0 before. */
  epoch = 0;
  /** The executor of that claim. */
  executorId: ExecutorId | undefined;
  /** The epoch of the last claim that ended with an outcome. The same outcome again is a duplicate and not a stale claim. */
  reportedEpoch = 0;
  /** Output as JSON text, once completed. */
  output: string | undefined;
  /** The size of `output` in UTF-8: the planner bounds a child's context without building it. */
  outputBytes = 0;
  message: string | undefined;
  lostDeliveries = 0;
  startedAt: number | undefined;
  settledAt: number | undefined;
  /** While queued: the earliest time of a start. */
  notBefore: number | undefined;
  /** While waiting: the child run that it waits for. */
  childRunId: RunId | undefined;
  /** While waiting for a person: the reason, the claim, and the output that waits as JSON text. */
  hold: HoldState | undefined;
  /** How its newest hold ended. */
  decided: DecidedState | undefined;
  /** A person approved the input, so the scheduler does not ask again. */
  isInputApproved = false;
  /** The concurrency key whose slot it needs while it is queued or running. */
  slot: ConcurrencyLimit | undefined;
  /** The rate that its starts count against. */
  rate: RateLimit | undefined;
}
export type ExecutionState = Plain<NewExecution>;

/** The iterations of a map or a loop. */
class NewScope {
  readonly width: number;
  /** The limit cut the list of items, so the node fails after the last one. */
  readonly isCut: boolean;
  /** The items as a JSON array, while the scope is open. */
  itemsJson: string;
  /** The executions queued so far: iteration n is at n - 1, and the length is the index of the next one. */
  readonly items: ExecutionState[] = [];
  /** How many executions are queued and not settled. */
  openCount = 0;
  settledCount = 0;
  /** The iteration that failed first, in log order. */
  firstFailed: number | undefined;
  /** An iteration ended the loop. */
  isStopped = false;
  /** The size that the outputs so far have in the joined array. */
  outputBytes = 2;
  /** The next iterations wait until then. */
  releaseAt: number | undefined;

  constructor(width: number, isCut: boolean, itemsJson: string) {
    this.width = width;
    this.isCut = isCut;
    this.itemsJson = itemsJson;
  }
}
export type ScopeState = Plain<NewScope>;

class NewNode extends NewExecution {
  handle: string | undefined;
  /** The nodes behind this one wait until then; a delay sets it. */
  releaseAt: number | undefined;
  /** Set for a map or a loop once its items are known. */
  scope: ScopeState | undefined;
  /** Join counters over the incoming edges. The fold keeps them, so a decision never scans the parents. */
  settledParents = 0;
  takenParents = 0;
  failedParents = 0;
}
export type NodeState = Plain<NewNode>;

/** One key of the run's memory. */
export interface MemoryEntry {
  /** The value as JSON text. */
  readonly json: string;
  /** The size of `json` in UTF-8. */
  readonly bytes: number;
  /** The event that wrote it last. */
  seq: number;
  /** The node that wrote it last. */
  readonly nodeId: NodeId;
}

class NewRun {
  readonly runId: RunId;
  readonly graph: Graph;
  status: RunStatus = "pending";
  kind: RunKind = "saved";
  /** The seq of the newest folded event. */
  lastSeq = 0;
  input = "null";
  inputBytes = 4;
  output: string | undefined;
  message: string | undefined;
  /** The present deadline: `firstDeadlineAt` plus the time for which the clock was stopped. */
  deadlineAt = 0;
  /** The deadline with which the run started. */
  firstDeadlineAt = 0;
  /** While the run is paused: the user who paused it, and the reason. */
  pause: PauseNote | undefined;
  /** The time since which the run waits or is paused. */
  waitingSince: number | undefined;
  /** The time since which the run's clock is stopped (`clock.ts`). It stays set when the run ends with a stopped clock. */
  clockStoppedAt: number | undefined;
  /** The node execution that waits for this run. */
  parent: ParentLink | undefined;
  /** The concurrency key whose slot it holds while it is live, and the rate that its start counts against. */
  slot: ConcurrencyLimit | undefined;
  rate: RateLimit | undefined;
  /** Whether the planner may plan its nodes: not before the run has its slot. */
  isAdmitted = false;
  /** How many runs are above this one. */
  depth = 0;
  startedAt = 0;
  endedAt: number | undefined;
  hasFailures = false;
  readonly nodes: NodeState[];
  /** How many nodes are not settled yet. At 0 the planner ends the run. */
  unsettledCount: number;
  /** How many executions are queued, running or retrying. Above 0 the run is `running`. */
  activeCount = 0;
  /** How many executions wait for a person or a child run. */
  blockedCount = 0;
  /** How many of them wait for a child run. */
  childCount = 0;
  /** Pending nodes whose counters changed since the planner last looked. The planner looks at no others. */
  readonly frontier: Set<number> = new Set();
  /** Joins that fired, cancel their late parents, and wait for the planner. */
  readonly firedJoins: Set<number> = new Set();
  /** Nodes whose scope changed since the planner last looked. */
  readonly scopes: Set<number> = new Set();
  /** Completed nodes that have an output variable, in log order, and their size in a context. */
  readonly variables: number[] = [];
  variablesBytes = 0;
  /** The run's memory by key, and its size in a context. */
  readonly memory: Map<string, MemoryEntry> = new Map();
  memoryBytes = 0;
  /** The node that failed and thereby fails the whole run, until the run ends. */
  fatalNode: number | undefined;
  /** The node that failed first; run.failed names it. */
  firstFailedNode: number | undefined;

  constructor(runId: RunId, graph: Graph) {
    this.runId = runId;
    this.graph = graph;
    this.nodes = graph.nodes.map(newNodeState);
    this.unsettledCount = graph.nodes.length;
  }
}
export type RunState = Plain<NewRun>;

/** The state of a run whose log is empty. */
export const newRunState = (runId: RunId, graph: Graph): RunState => new NewRun(runId, graph);

/** An execution that no event has named yet. */
export const newExecutionState = (): ExecutionState => new NewExecution();

/** A node that no event has named yet. */
export const newNodeState = (): NodeState => new NewNode();

/** The scope that `node.expanded` opens. */
export const newScopeState = (width: number, isCut: boolean, itemsJson: string): ScopeState =>
  new NewScope(width, isCut, itemsJson);
