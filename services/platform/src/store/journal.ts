// The write side of the log: used by the scheduler only. One transaction does everything a tick decided.
//
// Lock order, for every writer: run rows first, in order of run id; then log, leases and jobs of those runs; then the keys of
// slots, in the order of `slots.ts`. Whatever
// bumps a run's `version` holds its row lock, so two schedulers that planned on the same version meet there: the second
// finds another version and its whole transaction fails (`RunMoved`), changing nothing.
//
// Calls on a transaction are sent at once and answered later: nothing may be awaited before it is needed.

import type { Fact, ParentLink, RunKind, RunStatus, ScheduleLink } from "@pawl/core/log/event";
import type { ApprovalId, DefinitionId, RunId } from "@pawl/core/name/ids";
import type { NewDeadLetter } from "./dead-letters/dead-letters.ts";
import type { SlotChange, SlotsMoved } from "./slots/slots.ts";
import type { DroppedJob, Job, NewJob } from "../queue/queue.ts";
import type { LoadCursor, LoadedRun } from "./runs/runs.ts";
import type { FencedWrites } from "./fenced.ts";
import type {
  ClosedApproval,
  DueApproval,
  FoundApproval,
  NewApproval,
} from "./approvals/approvals.ts";
import type { LeaseKey, NewLease } from "./leases/leases.ts";
import type { Survey } from "./survey/survey.ts";

/** Where a run stands after a decision. */
export interface RunProjection {
  readonly status: RunStatus;
  readonly hasFailures: boolean;
  readonly errorMessage: string | null;
  readonly ended: boolean;
  /** How many events this transaction appends to it. */
  readonly eventCount: number;
}

export interface NewRun extends RunProjection {
  readonly runId: RunId;
  readonly tenantId: string;
  readonly definitionId: DefinitionId;
  readonly workflowId: string | null;
  readonly workflowVersion: number;
  readonly kind: RunKind;
  readonly priority: number;
  readonly requestId: string | null;
  readonly requestHash: string | null;
  readonly traceparent: string | null;
  readonly deadlineAt: number;
  /** Planned on a remembered newest version: the insert holds only while that is still the workflow's newest. */
  readonly assumesNewest: boolean;
  /** The node execution that waits for it. */
  readonly parent: ParentLink | null;
  /** The occurrence that started it. */
  readonly schedule?: ScheduleLink;
}

/** The graph of a test run: kept with it, and deleted with it. */
export interface TestGraph {
  readonly definitionId: DefinitionId;
  readonly tenantId: string;
  readonly digest: string;
  readonly title: string;
  readonly nodeCount: number;
  /** Canonical JSON text. */
  readonly body: string;
}

/** That an input may not be started again for a while. */
export interface InputKey {
  readonly tenantId: string;
  readonly inputKey: string;
  readonly runId: RunId;
  readonly ttlMs: number;
}

export interface RunChange extends RunProjection {
  readonly runId: RunId;
  readonly expectedVersion: number;
}

/** That a run's deadline moved. */
export interface MovedDeadline {
  readonly runId: RunId;
  readonly deadlineAt: number;
}

/** A fact to append. Its seq is the run's new last seq minus `back`: 0 for the last one of this transaction. */
export interface Append {
  readonly runId: RunId;
  readonly back: number;
  readonly fact: Fact;
}

/** That a run has news. `lastSeq` is a hint: whoever finds more reads more. */
export interface News {
  readonly runId: RunId;
  readonly lastSeq: number;
  /** Whether its terminal event is among them. */
  readonly ended: boolean;
}

/**
 * What is said about runs (insertRuns, advance, append, openLeases, closeLeases, wake) is sent together as one statement: say it
 * in one go, with nothing else in between, and only about runs that are inserted or advanced in the same go.
 */
export interface Transaction extends FencedWrites {
  /** What is said about runs from here on holds only while the pauses are those of this epoch. @throws PausesMoved at the commit */
  assumePauses(epoch: number): void;
  /** @throws WorkflowMoved when an assumed newest version is not the newest */
  insertRuns(runs: readonly NewRun[]): Promise<void>;
  /** Keeps the graphs of test runs, in the transaction that starts them: no graph is ever without its run. */
  saveGraphs(graphs: readonly TestGraph[]): Promise<void>;
  /** Remembers inputs as started. A key that lives already refuses the whole transaction by its unique index. */
  keepInputKeys(keys: readonly InputKey[]): Promise<void>;
  /** Compare-and-swap for all or none. Gives each run's new last seq. @throws RunMoved */
  advance(changes: readonly RunChange[]): Promise<ReadonlyMap<RunId, number>>;
  /** Of runs that this transaction advances. */
  moveDeadlines(moved: readonly MovedDeadline[]): Promise<void>;
  append(facts: readonly Append[]): Promise<void>;
  openApprovals(approvals: readonly NewApproval[]): Promise<void>;
  closeApprovals(approvals: readonly ClosedApproval[]): Promise<void>;
  /** Keeps executions that are given up, beside the node.failed of each. */
  bury(letters: readonly NewDeadLetter[]): Promise<void>;
  openLeases(leases: readonly NewLease[]): Promise<void>;
  closeLeases(keys: readonly LeaseKey[]): Promise<void>;
  /** Puts jobs into the queues of their types. A delivery that waits already stays as it is. */
  enqueue(jobs: readonly NewJob[]): Promise<void>;
  /** Removes waiting jobs. One that another transaction is taking stays: that one will find its run moved on. */
  dropJobs(jobs: readonly DroppedJob[]): Promise<void>;
  /** Moves slots of concurrency keys and rates. Comes last: the rows of all runs it touches are locked by then. */
  moveSlots(change: SlotChange): Promise<SlotsMoved>;
  /** Takes up to `count` ready jobs of a node type out of the queue. */
  fetch(nodeType: string, count: number): Promise<readonly Job[]>;
  /** Hints to readers which runs have news. */
  wake(news: readonly News[]): Promise<void>;
}

export interface Journal {
  /** Commits all that `work` sent, or nothing. @throws RunMoved, WorkflowMoved, PausesMoved, STORE_UNAVAILABLE (then the outcome is unknown) */
  transact<T>(work: (tx: Transaction) => T | Promise<T>): Promise<T>;
  /** Reads runs with their events after a cursor each; runs that do not exist are left out. */
  load(runs: readonly LoadCursor[]): Promise<LoadedRun[]>;
  /** The run a request id was used for, if any. */
  findRequest(
    tenantId: string,
    requestIds: readonly string[],
  ): Promise<readonly { requestId: string; requestHash: string; runId: RunId }[]>;
  /** Runs that inputs were started as, where their keys still live. */
  findInputKeys(
    tenantId: string,
    inputKeys: readonly string[],
  ): Promise<readonly { inputKey: string; runId: RunId }[]>;
  /** Runs that have not ended and were started by nodes of these runs. */
  liveChildren(runIds: readonly RunId[], limit: number): Promise<RunId[]>;
  /** Live runs whose deadline has passed; not those that wait, are paused or in quarantine. */
  overdueRuns(limit: number): Promise<RunId[]>;
  /** Open approvals that have a deadline, the soonest first. */
  dueApprovals(limit: number): Promise<readonly DueApproval[]>;
  findApproval(approvalId: ApprovalId): Promise<FoundApproval | undefined>;
  /** Deletes a finished test run, its effects and its definition; false when it is not one. */
  deleteTestRun(runId: RunId): Promise<boolean>;
  /** A look at what other schedulers may have changed. */
  survey(): Promise<Survey>;
}

/** A compare-and-swap lost: some run of the transaction had moved on. Reload and plan again. */
export class RunMoved extends Error {
  override readonly name = "RunMoved";
}

/** A run assumed a newest version that is not the newest any more, or whose workflow is gone. Look it up and start again. */
export class WorkflowMoved extends Error {
  override readonly name = "WorkflowMoved";
}

/** Something was decided on pauses that are not the current ones. Read them again and decide anew. */
export class PausesMoved extends Error {
  override readonly name = "PausesMoved";
}
