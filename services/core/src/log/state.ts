// The state of a run, which `fold.ts` makes from its log. There is one mutable object per run. The code that folds it owns it, and the
// planner only reads it. Nodes are stored by their index in the graph. An execution is a node, or one iteration of a node's scope. The
// classes give every field its value before the first event. A snapshot names the fields in this order.

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
  /** Undefined in logs of versions without approvals. */
  readonly approval: ApprovalRequest | undefined;
  /** The end of the time to answer. */
  readonly deadlineAt: number | undefined;
}

/** How a hold ended. */
export interface DecidedState {
  readonly decision: NodeDecision;
  readonly requestId: string;
  readonly approvalId: ApprovalId | undefined;
  /** The response as JSON text, if the person gave one. */
  readonly response: string | undefined;
}

/** One node execution: the unit that the scheduler queues, executors claim, and events settle. */
class NewExecution {
  status: NodeStatus = "pending";
  /** The newest attempt, from 1. 0 before the node was first queued. */
  attempt = 0;
  /**
   * The event that causes its next event: the event that changed it last. While the execution is pending, it is the event that may have
   * made it ready.
   */
  causeSeq = 1;
  /** The epoch of the live claim while running, and of the last claim afterwards. 0 before. */
  epoch = 0;
  /** The executor of that claim. */
  executorId: ExecutorId | undefined;
  /** The epoch of the last claim that ended with an outcome. The same outcome again is a duplicate and not a stale claim. */
  reportedEpoch = 0;
  /** Output as JSON text, once completed. */
  output: string | undefined;
  /** The size of `output` in UTF-8. With it the planner bounds a child's context without building it. */
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
  /** Whether a person approved the input. Then the scheduler does not ask again. */
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
  /** The item that failed first, in log order; the first item is 1. */
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

/** An output that outlives its round: JSON text, and its size in UTF-8. */
export interface KeptOutput {
  readonly output: string;
  readonly outputBytes: number;
}

/** The completion through which a jump reached a node. The outputs of the round that it ended are gone by then. */
interface EntryState extends KeptOutput {
  /** The index of the node that jumped. */
  readonly source: number;
  readonly handle: string | undefined;
  readonly releaseAt: number | undefined;
}

/** A completed node that leads to another one by a loop edge, a goto or a handoff, and that the planner has not followed yet. */
export interface JumpState {
  readonly entry: EntryState;
  readonly target: number;
  /** The place of the loop edge among the target's `reentries`; undefined for a goto and a handoff. */
  readonly loop: number | undefined;
  readonly reason: string;
}

class NewNode extends NewExecution {
  /** The iteration of the node itself in its present round. The items of its scope are the iterations behind it. */
  base = 0;
  /** How many rounds of the node are over: each ended with `node.invalidated`. */
  round = 0;
  /** Set if a jump began the present round: the node runs without its join. */
  entry: EntryState | undefined;
  /** The output of an earlier round, as long as the output variable of the node holds it. */
  kept: KeptOutput | undefined;
  /** How often each of the `reentries` was taken since the node was last reached another way; undefined for never. */
  repeats: readonly number[] | undefined;
  handle: string | undefined;
  /** The time until which the next nodes wait. A delay sets it. */
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
  /** Whether the planner may plan the nodes of the run. It may not before the run has its slot. */
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
  /** Pending nodes whose counters changed since the last round of the planner. The planner reads no others. */
  readonly frontier: Set<number> = new Set();
  /** Joins that fired and cancel their late parents. The planner has not handled them yet. */
  readonly firedJoins: Set<number> = new Set();
  /** Jumps that the planner has not followed yet, in log order. It follows the first. The fold drops a jump whose source was invalidated. */
  jumps: readonly JumpState[] = [];
  /** How many loop edges, gotos and handoffs were taken, the node of the last one, and how many are allowed. */
  iterationCount = 0;
  lastJumpNode: number | undefined;
  maxIterations: number;
  /** Nodes whose scope changed since the last round of the planner. */
  readonly scopes: Set<number> = new Set();
  /** Completed nodes that have an output variable, in log order, and their size in a context. */
  readonly variables: number[] = [];
  variablesBytes = 0;
  /** The run's memory by key, and its size in a context. */
  readonly memory: Map<string, MemoryEntry> = new Map();
  memoryBytes = 0;
  /** The node whose failure fails the whole run. It is set until the run ends. */
  fatalNode: number | undefined;
  /** The node that failed first; run.failed names it. */
  firstFailedNode: number | undefined;

  constructor(runId: RunId, graph: Graph) {
    this.runId = runId;
    this.graph = graph;
    this.nodes = graph.nodes.map(newNodeState);
    this.unsettledCount = graph.nodes.length;
    this.maxIterations = graph.definition.maxIterations;
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
