// The write side of the log: only the scheduler uses it. One transaction writes all decisions of a tick.
//
// Every writer takes locks in this order. First come run rows, in order of run id. Then come the log, leases and jobs of those runs. Then
// come threads, in order of id, and last daily budgets (`days.ts`) and the keys of slots, in the order of `slots.ts`.
//
// Race: two schedulers plan on the same version of a run. A writer that raises the `version` holds the row lock. The second finds another
// version. Its whole transaction fails (`RunMoved`) and changes nothing.
//
// Calls on a transaction are sent at once and answered later. The caller awaits an answer only when it needs it.

import type { ApprovalId, RunId } from "@pawl/core/name/ids";
import type { DroppedJob, Job, NewJob, QueueDepth } from "../../queue/queue.ts";
import type {
  ClosedApproval,
  DueApproval,
  FoundApproval,
  NewApproval,
} from "../approvals/approvals.ts";
import type { AssistantRun } from "../assistants/assistants.ts";
import type { DayAnswers, DayChange } from "../days/days.ts";
import type { NewDeadLetter } from "../dead-letters/dead-letters.ts";
import type {
  Begun,
  Committed,
  EffectBegin,
  EffectCommit,
  KeptEffects,
} from "../effects/effects.ts";
import type { Extension, LeaseKey, NewLease } from "../leases/leases.ts";
import type { Append, StreamedFact } from "../log/log.ts";
import type {
  DueFilter,
  DueRun,
  FoundRequest,
  InputKey,
  KeptMetadata,
  LoadCursor,
  LoadedRun,
  MovedDeadline,
  NewRepair,
  NewRun,
  RunChange,
  StartedInput,
  StoppedRun,
  TestGraph,
} from "../runs/runs.ts";
import type { DueWait, NewWait, WaitKey } from "../signals/signals.ts";
import type { SlotChange, SlotsMoved } from "../slots/slots.ts";
import type { NewRunWebhook, PostedEvent } from "../webhooks/webhooks.ts";
import type { ValueRef } from "../values/values.ts";
import type { LoadedThread, ThreadKey, ThreadMoves } from "../threads/threads.ts";

/** A run with new events. `lastSeq` is a hint: a reader that finds more events reads them too. */
export interface News {
  readonly runId: RunId;
  readonly lastSeq: number;
  /** Whether its terminal event is among them. */
  readonly ended: boolean;
}

/**
 * The calls about runs (insertRuns, advance, append, openLeases, closeLeases, wake) are sent together as one statement. The caller makes
 * them one after the other, with no other call in between, and only about runs that it inserts or advances among them.
 *
 * Executors also report stream deltas, effects and the need for more time (stream, beginEffects, commitEffects, extendLeases). Each report
 * names its claim. The transaction compares epoch and executor with the lease under the lock of the run: a stale report changes nothing.
 * These calls come before `closeLeases`.
 */
export interface Transaction {
  /** Locks run rows, in order of id, until the transaction ends. */
  lock(runIds: readonly RunId[]): Promise<void>;
  /** Appends stream deltas without a new version. Call it before `advance` for the same runs. Returns for each whether its claim holds. */
  stream(facts: readonly StreamedFact[]): Promise<readonly boolean[]>;
  /** Records that effects are begun, unless the ledger has them. */
  beginEffects(begins: readonly EffectBegin[]): Promise<readonly Begun[]>;
  commitEffects(commits: readonly EffectCommit[]): Promise<readonly Committed[]>;
  /** Returns for each whether its claim holds. */
  extendLeases(extensions: readonly Extension[]): Promise<readonly boolean[]>;
  /** From now on the calls about runs commit only while the pauses have this epoch. @throws PausesMoved at the commit */
  assumePauses(epoch: number): void;
  /** @throws WorkflowMoved if an assumed newest version is not the newest */
  insertRuns(runs: readonly NewRun[]): Promise<void>;
  /** Names the assistants of runs that this transaction inserts. @throws AssistantMoved if one of them was deleted */
  nameAssistants(runs: readonly AssistantRun[]): Promise<void>;
  /** Stores the graphs of test runs, in the transaction that starts the runs. So no graph exists without its run. */
  saveGraphs(graphs: readonly TestGraph[]): Promise<void>;
  /** Stores inputs that have started a run. A key that is not expired fails the whole transaction by its unique index. */
  keepInputKeys(keys: readonly InputKey[]): Promise<void>;
  /** Links runs of this transaction to the finished runs that they repair. */
  linkRepairs(links: readonly NewRepair[]): Promise<void>;
  /** Stores the metadata of runs of this transaction. They replace earlier ones. */
  keepMetadata(kept: readonly KeptMetadata[]): Promise<void>;
  /** Copies effects of finished runs to runs of this transaction. */
  copyEffects(kept: readonly KeptEffects[]): Promise<void>;
  /** Compare-and-swap for all or none. Returns each run's new last seq. @throws RunMoved */
  advance(changes: readonly RunChange[]): Promise<ReadonlyMap<RunId, number>>;
  /** Moves deadlines of runs that this transaction advances. */
  moveDeadlines(moved: readonly MovedDeadline[]): Promise<void>;
  /** Marks runs of this transaction that were interrupted or rolled back. */
  markStops(stopped: readonly StoppedRun[]): Promise<void>;
  /**
   * Changes threads, and the order of their runs. Call it after the calls about runs. @throws ThreadMoved if another transaction changed one
   * of the threads
   */
  moveThreads(moves: ThreadMoves): Promise<void>;
  append(facts: readonly Append[]): Promise<void>;
  openApprovals(approvals: readonly NewApproval[]): Promise<void>;
  closeApprovals(approvals: readonly ClosedApproval[]): Promise<void>;
  /** Inserts executions that wait for a signal, with the node.blocked of each. */
  openWaits(waits: readonly NewWait[]): Promise<void>;
  /** Deletes waits, with the event that ends each. */
  closeWaits(waits: readonly WaitKey[]): Promise<void>;
  /** Records that events of this transaction name stored values. Fails the transaction if a value does not exist. */
  referValues(refs: readonly ValueRef[]): Promise<void>;
  /** Inserts executions that the scheduler gives up, with the node.failed of each. */
  bury(letters: readonly NewDeadLetter[]): Promise<void>;
  /** Stores the receivers of events of runs that this transaction inserts. */
  keepWebhooks(webhooks: readonly NewRunWebhook[]): Promise<void>;
  /** Inserts a delivery for each receiver of each event. Call it after the calls about the runs. */
  post(events: readonly PostedEvent[]): Promise<void>;
  openLeases(leases: readonly NewLease[]): Promise<void>;
  closeLeases(keys: readonly LeaseKey[]): Promise<void>;
  /** The index that the next delta of each execution must have. Call it after `openLeases`: then no earlier claim can stream. */
  nextDeltas(keys: readonly LeaseKey[]): Promise<readonly number[]>;
  /** Puts jobs into the queues of their types. A delivery that already waits stays unchanged. */
  enqueue(jobs: readonly NewJob[]): Promise<void>;
  /** Removes waiting jobs. A job that another transaction takes now stays; that transaction finds that its run has moved on. */
  dropJobs(jobs: readonly DroppedJob[]): Promise<void>;
  /** Changes slots of concurrency keys and rates. Call it last: the rows of all runs it touches are locked by then. */
  moveSlots(change: SlotChange): Promise<SlotsMoved>;
  /** Settles and reserves daily budgets. The rows of the runs that it names are locked by then. */
  moveDays(change: DayChange): Promise<DayAnswers>;
  /** Takes up to `count` ready jobs of a node type out of the queue. */
  fetch(nodeType: string, count: number): Promise<readonly Job[]>;
  /** Notifies readers of the runs with new events. */
  wake(news: readonly News[]): Promise<void>;
}

/** The counts that a scheduler reads now and then, to learn of the work of other schedulers. */
export interface Survey {
  readonly queues: readonly QueueDepth[];
  /** When the next slot of a rate becomes free that an execution waits for. Undefined if none is known. */
  readonly nextRateSlotMs: number | undefined;
  /** Counted up to a bound. */
  readonly openDeadLetters: number;
  readonly pauseEpoch: number;
  /** Deliveries that wait, counted up to a bound, and when the first of them is due. Undefined if there is none. */
  readonly webhooksPending: number;
  readonly webhookDueMs: number | undefined;
  /** When the next step of a bulk is due. Undefined if no bulk needs one. */
  readonly bulkDueMs: number | undefined;
}

export interface Journal {
  /**
   * Commits everything that `work` sent, or nothing. Calls `onSent` once the commit is sent, and waits for its answer.
   * @throws RunMoved, WorkflowMoved, AssistantMoved, PausesMoved, ThreadMoved, STORE_UNAVAILABLE (then the outcome is unknown)
   */
  transact<T>(work: (tx: Transaction) => T | Promise<T>, onSent?: () => void): Promise<T>;
  /** Reads runs with their events after a cursor each. Runs that do not exist are left out. */
  load(runs: readonly LoadCursor[]): Promise<LoadedRun[]>;
  /** The runs that these request ids started. */
  findRequest(tenantId: string, requestIds: readonly string[]): Promise<readonly FoundRequest[]>;
  /** The runs that these inputs started, for keys that are not expired. */
  findInputKeys(tenantId: string, inputKeys: readonly string[]): Promise<readonly StartedInput[]>;
  /** Reads threads with the runs that wait for them. Threads that do not exist are left out. */
  loadThreads(keys: readonly ThreadKey[]): Promise<readonly LoadedThread[]>;
  /** Live runs that nodes of these runs started. */
  liveChildren(runIds: readonly RunId[], limit: number): Promise<RunId[]>;
  /** Live runs whose deadline has passed. Runs that wait, are paused or in quarantine are left out. */
  overdueRuns(limit: number): Promise<RunId[]>;
  /** Open approvals that have a deadline, the soonest first. */
  dueApprovals(limit: number): Promise<readonly DueApproval[]>;
  /** Waits for signals that have a deadline, the soonest first. */
  dueWaits(limit: number): Promise<readonly DueWait[]>;
  findApproval(approvalId: ApprovalId): Promise<FoundApproval | undefined>;
  /** Deletes finished test runs and temporary runs with all their rows, and the temporary runs below them. Returns those of the list. */
  deleteUnkept(runIds: readonly RunId[]): Promise<readonly RunId[]>;
  /** Temporary runs that ended and may go soon, the first one first. Runs that something still needs are left out. */
  dueTemporary(asked: DueFilter): Promise<readonly DueRun[]>;
  /** Counts that other schedulers may have changed. */
  survey(): Promise<Survey>;
}

/** A run of the transaction moved on. Load it and plan again. */
export class RunMoved extends Error {
  override readonly name = "RunMoved";
}

/** A run assumed a newest version that is no longer the newest, or a user deleted its workflow. Read the workflow and start again. */
export class WorkflowMoved extends Error {
  override readonly name = "WorkflowMoved";
}

/** A thread of the transaction moved on. Load it and decide again. */
export class ThreadMoved extends Error {
  override readonly name = "ThreadMoved";
}

/** An assistant of a new run was deleted. The command that starts the run reads it again. */
export class AssistantMoved extends Error {
  override readonly name = "AssistantMoved";
}

/** The tick decided on pauses that are not current. Read them and decide again. */
export class PausesMoved extends Error {
  override readonly name = "PausesMoved";
}
