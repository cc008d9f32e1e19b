// The write side of the log: only the scheduler uses it. One transaction writes all decisions of a tick.
//
// Lock order, for every writer: run rows first, in order of run id; then log, leases and jobs of those runs; then the keys of slots, in
// the order of `slots.ts`. A writer that raises a run's `version` holds its row lock, so two schedulers that planned on the same
// version meet there: the second finds another version, and its whole transaction fails (`RunMoved`) and changes nothing.
//
// Calls on a transaction are sent at once and answered later: the caller awaits no answer before it needs it.

import type { ApprovalId, RunId } from "@pawl/core/name/ids";
import type { DroppedJob, Job, NewJob } from "../../queue/queue.ts";
import type {
  ClosedApproval,
  DueApproval,
  FoundApproval,
  NewApproval,
} from "../approvals/approvals.ts";
import type { NewDeadLetter } from "../dead-letters/dead-letters.ts";
import type { Begun, Committed, EffectBegin, EffectCommit } from "../effects/effects.ts";
import type { Extension, LeaseKey, NewLease } from "../leases/leases.ts";
import type { Append, StreamedFact } from "../log/log.ts";
import type {
  FoundRequest,
  InputKey,
  LoadCursor,
  LoadedRun,
  MovedDeadline,
  NewRun,
  RunChange,
  StartedInput,
  TestGraph,
} from "../runs/runs.ts";
import type { SlotChange, SlotsMoved } from "../slots/slots.ts";
import type { Survey } from "../survey/survey.ts";

/** A run with new events. `lastSeq` is a hint: a reader that finds more reads more. */
export interface News {
  readonly runId: RunId;
  readonly lastSeq: number;
  /** Whether its terminal event is among them. */
  readonly ended: boolean;
}

/**
 * The calls about runs (insertRuns, advance, append, openLeases, closeLeases, wake) are sent together as one statement. The caller
 * makes them one after the other, with no other call in between, and only about runs that it inserts or advances among them.
 *
 * Executors also report partial output, effects and the need for more time (stream, beginEffects, commitEffects, extendLeases). Each
 * report names its claim. The transaction compares epoch and executor with the lease under the lock of the run: a stale report changes
 * nothing. These calls come before `closeLeases`.
 */
export interface Transaction {
  /** Locks run rows, in order of id, until the transaction ends. */
  lock(runIds: readonly RunId[]): Promise<void>;
  /** Appends partial output without a new version. Call before `advance` for the same runs. Gives for each whether its claim holds. */
  stream(facts: readonly StreamedFact[]): Promise<readonly boolean[]>;
  /** Records that effects are begun, unless they are on record. */
  beginEffects(begins: readonly EffectBegin[]): Promise<readonly Begun[]>;
  commitEffects(commits: readonly EffectCommit[]): Promise<readonly Committed[]>;
  /** Gives for each whether its claim holds. */
  extendLeases(extensions: readonly Extension[]): Promise<readonly boolean[]>;
  /** The calls about runs from here on hold only while the pauses are those of this epoch. @throws PausesMoved at the commit */
  assumePauses(epoch: number): void;
  /** @throws WorkflowMoved if an assumed newest version is not the newest */
  insertRuns(runs: readonly NewRun[]): Promise<void>;
  /** Keeps the graphs of test runs, in the transaction that starts the runs: no graph is without its run. */
  saveGraphs(graphs: readonly TestGraph[]): Promise<void>;
  /** Remembers inputs as started. A key that is not expired fails the whole transaction by its unique index. */
  keepInputKeys(keys: readonly InputKey[]): Promise<void>;
  /** Compare-and-swap for all or none. Gives each run's new last seq. @throws RunMoved */
  advance(changes: readonly RunChange[]): Promise<ReadonlyMap<RunId, number>>;
  /** Moves deadlines of runs that this transaction advances. */
  moveDeadlines(moved: readonly MovedDeadline[]): Promise<void>;
  append(facts: readonly Append[]): Promise<void>;
  openApprovals(approvals: readonly NewApproval[]): Promise<void>;
  closeApprovals(approvals: readonly ClosedApproval[]): Promise<void>;
  /** Keeps executions that the scheduler gives up, beside the node.failed of each. */
  bury(letters: readonly NewDeadLetter[]): Promise<void>;
  openLeases(leases: readonly NewLease[]): Promise<void>;
  closeLeases(keys: readonly LeaseKey[]): Promise<void>;
  /** The index that the next delta of each execution must have. Call after `openLeases`: no earlier claim can stream any more. */
  nextDeltas(keys: readonly LeaseKey[]): Promise<readonly number[]>;
  /** Puts jobs into the queues of their types. A delivery that waits already stays as it is. */
  enqueue(jobs: readonly NewJob[]): Promise<void>;
  /** Removes waiting jobs. A job that another transaction takes now stays: that transaction finds its run moved on. */
  dropJobs(jobs: readonly DroppedJob[]): Promise<void>;
  /** Moves slots of concurrency keys and rates. Comes last: the rows of all runs it touches are locked by then. */
  moveSlots(change: SlotChange): Promise<SlotsMoved>;
  /** Takes up to `count` ready jobs of a node type out of the queue. */
  fetch(nodeType: string, count: number): Promise<readonly Job[]>;
  /** Hints to readers which runs have news. */
  wake(news: readonly News[]): Promise<void>;
}

export interface Journal {
  /**
   * Commits all that `work` sent, or nothing. Calls `onSent` once the commit is sent, and waits for its answer.
   * @throws RunMoved, WorkflowMoved, PausesMoved, STORE_UNAVAILABLE (then the outcome is unknown)
   */
  transact<T>(work: (tx: Transaction) => T | Promise<T>, onSent?: () => void): Promise<T>;
  /** Reads runs with their events after a cursor each; runs that do not exist are left out. */
  load(runs: readonly LoadCursor[]): Promise<LoadedRun[]>;
  /** The runs that request ids were used for. */
  findRequest(tenantId: string, requestIds: readonly string[]): Promise<readonly FoundRequest[]>;
  /** The runs that inputs were started as, for keys that are not expired. */
  findInputKeys(tenantId: string, inputKeys: readonly string[]): Promise<readonly StartedInput[]>;
  /** Runs that have not ended and were started by nodes of these runs. */
  liveChildren(runIds: readonly RunId[], limit: number): Promise<RunId[]>;
  /** Live runs whose deadline has passed; not those that wait, are paused or in quarantine. */
  overdueRuns(limit: number): Promise<RunId[]>;
  /** Open approvals that have a deadline, the soonest first. */
  dueApprovals(limit: number): Promise<readonly DueApproval[]>;
  findApproval(approvalId: ApprovalId): Promise<FoundApproval | undefined>;
  /** Deletes a finished test run, its effects and its definition; false if it is not one. */
  deleteTestRun(runId: RunId): Promise<boolean>;
  /** Counts that other schedulers may have changed. */
  survey(): Promise<Survey>;
}

/** A run of the transaction moved on. Load it and plan again. */
export class RunMoved extends Error {
  override readonly name = "RunMoved";
}

/** A run assumed a newest version that is no longer the newest, or its workflow is gone. Look the workflow up and start again. */
export class WorkflowMoved extends Error {
  override readonly name = "WorkflowMoved";
}

/** The tick decided on pauses that are not the current ones. Read them and decide again. */
export class PausesMoved extends Error {
  override readonly name = "PausesMoved";
}
