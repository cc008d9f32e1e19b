// The state of a run, which `fold.ts` makes from its log. There is one mutable object per run. The code that folds it owns it, and the
// planner only reads it. Nodes are stored by their index in the graph. An execution is a node, or one iteration of a node's scope. The
// classes give every field its value before the first event. A snapshot names the fields in this order.

import type { JsonObject } from "../data/merge-patch.ts";
import type { Graph } from "../definition/graph.ts";
import type { Failure } from "../fault/cause.ts";
import type { ExecutorId, RunId } from "../name/ids.ts";
import type { Amounts, Budget, DayFunds, SomeAmounts } from "../policy/budget.ts";
import type { ConcurrencyLimit, RateLimit } from "../policy/limit.ts";
import type { Taint } from "../policy/taint.ts";
import type { SupervisorDecision } from "./agent-state.ts";
import type { AssistantLink } from "./assistant.ts";
import type { Ending, NodeStatus, ParentLink, PauseNote, RunKind } from "./event.ts";
import type { RunStatus, StopMode, ThreadLink } from "./event.ts";
import type { EntryState, JumpState, KeptOutput } from "./jump-state.ts";
import type { ScopeState } from "./scope-state.ts";
import type { UndoState } from "./undo-state.ts";
import type { DecidedState, HoldState, KeptSignal, WaitState } from "./wait-state.ts";
import type { MemoryEntry } from "./memory-entry.ts";
import { EMPTY_LEDGER, type Ledger, type UnfundedState } from "./ledger.ts";

/** One object for all runs without metadata, so that a snapshot sees that the field is as new. */
const NO_METADATA: JsonObject = {};

/** The fields of a class, without its name. */
export type Plain<T> = { [Key in keyof T]: T[Key] };

/** One node execution: the unit that the scheduler queues, executors claim, and events settle. */
class NewExecution {
  status: NodeStatus = "pending";
  /** The newest attempt, from 1. 0 before the node was first queued. */
  attempt = 0;
  /** The event that causes its next event: the event that changed it last. If it is pending, the event that may have made it ready. */
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
  failure: Failure | undefined;
  lostDeliveries = 0;
  startedAt: number | undefined;
  settledAt: number | undefined;
  /** While queued: the earliest time of a start. */
  notBefore: number | undefined;
  /** While waiting: the child run that it waits for. */
  childRunId: RunId | undefined;
  /** Whether that run may undo its nodes when it is cancelled. */
  childCompensates = false;
  /** While waiting for a person: the reason, the claim, and the output that waits as JSON text. */
  hold: HoldState | undefined;
  /** While waiting for a signal: its name, and until when. */
  wait: WaitState | undefined;
  /** How its newest hold ended. */
  decided: DecidedState | undefined;
  /** Whether a person approved the input. Then the scheduler does not ask again. */
  isInputApproved = false;
  /** The concurrency key whose slot it needs while it is queued or running. */
  slot: ConcurrencyLimit | undefined;
  /** The rate that its starts count against. */
  rate: RateLimit | undefined;
  /** The labels of its output, of the data that its newest claim reads, and those that a person dropped for it. */
  taint: Taint | undefined;
  readTaint: Taint | undefined;
  dropped: readonly string[] | undefined;
  /** What it may use of its budgets, from `node.queued` to the end of its claim. */
  reserved: Amounts | undefined;
}
export type ExecutionState = Plain<NewExecution>;

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
  /** What all executions of the node used, in every round. */
  ledger: Ledger = EMPTY_LEDGER;
}
export type NodeState = Plain<NewNode>;

class NewRun {
  readonly runId: RunId;
  readonly graph: Graph;
  status: RunStatus = "pending";
  kind: RunKind = "saved";
  workflowVersion = 0;
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
  /** How long the run may take. */
  deadlineMs: number;
  /** While the run is paused: the user who paused it, and the reason. */
  pause: PauseNote | undefined;
  /** The time since which the run waits or is paused. */
  waitingSince: number | undefined;
  /** The time since which the run's clock is stopped (`clock.ts`). It stays set when the run ends with a stopped clock. */
  clockStoppedAt: number | undefined;
  /** The node execution that waits for this run. */
  parent: ParentLink | undefined;
  /** The concurrency key whose slot it holds while it is live, the rate of its starts, the daily budget of its workflow, and its part of that. */
  slot: ConcurrencyLimit | undefined;
  rate: RateLimit | undefined;
  daily: SomeAmounts | undefined;
  dayFunds: DayFunds | undefined;
  /** Whether the planner may plan the nodes of the run. It may not before the run has its slot, and not before the time that the caller set. */
  isAdmitted = false;
  startAt: number | undefined;
  /** The thread that it takes before it begins, whether it has taken it, and how the run was stopped. */
  thread: ThreadLink | undefined;
  isThreadTaken = false;
  stop: StopMode | undefined;
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
  /** How many of them wait for their backoff. If that is all of them, the run is `retrying` (`run-status.ts`). */
  backoffCount = 0;
  /** How many executions wait for a person, a signal or a child run. */
  blockedCount = 0;
  /** How many of them wait for a child run. */
  childCount = 0;
  /** Pending nodes whose counters changed since the last round of the planner. The planner reads no others. */
  readonly frontier: Set<number> = new Set();
  /** Joins that fired and cancel their late parents. The planner has not handled them yet. */
  readonly firedJoins: Set<number> = new Set();
  /** Jumps that the planner has not followed yet, in log order. It follows the first. The fold drops a jump whose source was invalidated. */
  jumps: readonly JumpState[] = [];
  /** How many loop edges, gotos and handoffs were taken, how many of them to workflows, the node of the last one, and how many are allowed. */
  iterationCount = 0;
  workflowHandoffs = 0;
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
  /** Whether a value of the log has been a reference to a value outside of it. */
  hasReferences = false;
  /** What users say about the run, to find it again. */
  metadata: JsonObject = NO_METADATA;
  /** The labels of the input and of the output. */
  inputTaint: Taint | undefined;
  outputTaint: Taint | undefined;
  /** The names of all labels that values of the run have had. While it is empty, no code looks for labels. */
  readonly taintLabels: Set<string> = new Set();
  /** A labelled value became readable, or an execution was queued again. The planner has not compared the queued ones with the policies. */
  isTaintMoved = false;
  /** The decisions of all supervisors, in log order. A run repeats at most `maxIterations` times, which bounds them. */
  readonly supervisorHistory: SupervisorDecision[] = [];
  /** The signals that no execution has taken, by request id in the order of arrival, and the bytes of their payloads. */
  readonly signals: Map<string, KeptSignal> = new Map();
  signalBytes = 0;
  /** The digest of every signal by its request id. */
  readonly signalDigests: Map<string, string> = new Map();
  /** The executions that wait for each signal, the oldest wait first. `signal.ts` makes the keys. */
  readonly waits: Map<string, Set<number>> = new Map();
  /** The compensations of completed executions, in the order of their completion, by `undoKey`. */
  readonly undos: Map<string, UndoState> = new Map();
  /** How the run ends after its compensation. It is set while the run is compensated. */
  ending: Ending | undefined;
  /** The event after which the next compensations are ready. */
  undoSeq = 0;
  /** The execution of another run that this run only undoes. */
  undoes: ParentLink | undefined;
  /** What the run is for, the rules that its nodes respect, and its assistant. */
  goal: string;
  constraints: readonly string[];
  assistant: AssistantLink | undefined;
  /** How often an execution may be retried, whatever its policy; undefined if only the policy counts. */
  maxRetries: number | undefined;
  /** When an executor first started a node of the run. Until then the run is `scheduled` (`run-status.ts`). */
  begunAt: number | undefined;
  /** The node that started last. */
  lastStartedNode: number | undefined;
  /** The nodes in the order in which their rounds began: the newest, and how many were dropped before them. */
  readonly visited: number[] = [];
  visitsDropped = 0;
  /** How often executions of a node were retried in its present round, by index. */
  readonly retries: Map<number, number> = new Map();
  /** The message of the newest failure, and the labels of what it may quote. */
  lastError: string | undefined;
  lastErrorTaint: Taint | undefined;
  /** The time of the newest folded event, and of the newest one that moved a node or the status. */
  updatedAt = 0;
  movedAt = 0;
  /** How much the run may use, with every raise. Undefined if nothing limits it. */
  budget: Budget | undefined;
  ledger: Ledger = EMPTY_LEDGER;
  /** Retries and lost executions that wait for their budget, in log order. */
  unfunded: readonly UnfundedState[] = [];
  /** The raises of the budget by request id, as text. */
  readonly raises: Map<string, string> = new Map();
  /** The node whose failure fails the whole run. It is set until the run ends. */
  fatalNode: number | undefined;
  /** The node that failed first. Why the run failed, once it has, and the node that run.failed names. The events of its webhooks. */
  firstFailedNode: number | undefined;
  failure: (Failure & { readonly nodeId: string }) | undefined;
  webhookEvents: readonly string[] = [];

  constructor(runId: RunId, graph: Graph) {
    this.runId = runId;
    this.graph = graph;
    this.nodes = graph.nodes.map(newNodeState);
    this.unsettledCount = graph.nodes.length;
    const { deadlineMs, maxIterations, goal, constraints, maxRetries } = graph.definition;
    this.deadlineMs = deadlineMs;
    this.maxIterations = maxIterations;
    this.goal = goal;
    this.constraints = constraints;
    this.maxRetries = maxRetries;
  }
}
export type RunState = Plain<NewRun>;

/** The state of a run whose log is empty. */
export const newRunState = (runId: RunId, graph: Graph): RunState => new NewRun(runId, graph);

/** An execution that no event has named yet. */
export const newExecutionState = (): ExecutionState => new NewExecution();

/** A node that no event has named yet. */
export const newNodeState = (): NodeState => new NewNode();
