// One transaction on the pipelined connection. It gathers the calls about runs and sends them as one statement. It sends that statement
// before any other, with the commit, or at the end of this turn of the event loop if the caller waits for the answer. A transaction of only
// that statement needs no begin and no commit. Every other call is sent at once. A failure appears at the commit: PostgreSQL rolls back if
// an earlier statement failed.

import type { RunId } from "@pawl/core/name/ids";
import { list, text, uuid } from "../../db/columns.ts";
import { sqlState } from "../../db/failure.ts";
import { bind, queriesBeside, rowsOf, type Send } from "../../db/query.ts";
import type { Pipeline } from "../../db/tick-connection.ts";
import type { NodeQueue, SendStatement } from "../../queue/node-queue.ts";
import type { DroppedJob, Job, NewJob } from "../../queue/queue.ts";
import { jobNotificationPayload } from "../../wake/jobs.ts";
import { wakeOf } from "../../wake/listen.ts";
import { nameAssistants } from "../assistants/writes.ts";
import { closeApprovals, openApprovals } from "../approvals/writes.ts";
import type { DayAnswers, DayChange } from "../days/days.ts";
import { moveDays } from "../days/writes.ts";
import { buryDeadLetters } from "../dead-letters/writes.ts";
import { beginEffects, commitEffects, copyEffects } from "../effects/writes.ts";
import type { ClaimKey } from "../leases/leases.ts";
import { extendLeases } from "../leases/writes.ts";
import { appendStreamed, findNextDeltas } from "../log/writes.ts";
import type { RunChange } from "../runs/runs.ts";
import {
  keepInputKeys,
  keepMetadata,
  linkRepairs,
  markStops,
  moveDeadlines,
  saveTestGraphs,
} from "../runs/writes.ts";
import { closeWaits, openWaits } from "../signals/writes.ts";
import type { SlotChange, SlotsMoved } from "../slots/slots.ts";
import { moveSlots } from "../slots/writes.ts";
import { keepRunWebhooks, postEvents } from "../webhooks/writes.ts";
import { referValues } from "../values/writes.ts";
import type { ThreadMoves } from "../threads/threads.ts";
import { moveThreads } from "../threads/writes.ts";
import { TickBatch } from "./batch.ts";
import {
  AssistantMoved,
  type News,
  PausesMoved,
  RunMoved,
  ThreadMoved,
  type Transaction,
  WorkflowMoved,
} from "./journal.ts";

/** A notification holds 8,000 bytes. A longer one makes readers read all runs. */
const WAKE_BYTES = 7_900;

/** The meanings of the SQLSTATEs that our statements raise (`pawl_require`). */
const CONFLICTS: Readonly<Record<string, () => Error>> = {
  PW001: () => new RunMoved("a run moved on"),
  PW002: () => new PausesMoved("the pauses have changed"),
  PW003: () => new WorkflowMoved("a workflow moved on"),
  PW005: () => new ThreadMoved("a thread moved on"),
  PW006: () => new AssistantMoved("an assistant moved on"),
};

const declare = queriesBeside(import.meta.url);
const lockRuns = declare("lock_runs", { runIds: list(uuid()) }, { runId: uuid() });
const notifySchedulers = declare("notify_schedulers", { jobs: text() }, { notified: text() });

/** The answer to an empty call. */
const NOTHING = Promise.resolve();
const NONE = Promise.resolve([]);

/** Writes several items with `Send`. */
type Write<Item, Answer> = (send: Send, items: readonly Item[]) => Promise<Answer>;

export class PostgresTransaction implements Transaction {
  readonly #pipeline: Pipeline;
  readonly #queue: NodeQueue;
  readonly #answers: Promise<unknown>[] = [];
  readonly #issued: Promise<void>[] = [];
  #batch = new TickBatch();
  #sent = Promise.withResolvers<ReadonlyMap<RunId, number>>();
  #hasBegun = false;
  #pauseEpoch = -1;
  /** Runs whose rows this transaction has locked by name. */
  readonly #locked = new Set<RunId>();
  #refusal: unknown;

  constructor(pipeline: Pipeline, queue: NodeQueue) {
    this.#pipeline = pipeline;
    this.#queue = queue;
  }

  /** The connection. It holds statements until the end of this turn. */
  get #client(): Pipeline["client"] {
    this.#pipeline.gather();
    return this.#pipeline.client;
  }

  /** The first refusal of PostgreSQL. The statements behind it get only the error that the transaction is aborted. */
  get refusal(): unknown {
    return this.#refusal;
  }

  /** Sends the commit, calls `onSent`, and waits for every answer. */
  async commit(onSent: () => void): Promise<void> {
    if (this.#issued.length > 0) await Promise.all(this.#issued);
    this.#flush({ isLast: true });
    if (this.#hasBegun) void this.#keep(this.#client.query("commit"));
    this.#pipeline.release();
    onSent();
    for (const answer of this.#answers) await answer;
  }

  async rollback(): Promise<void> {
    // The gathered statement must not be sent behind the rollback.
    this.#batch = new TickBatch();
    await Promise.allSettled(this.#issued);
    if (this.#hasBegun) await this.#client.query("rollback");
  }

  assumePauses(epoch: number): void {
    this.#pauseEpoch = epoch;
  }

  readonly insertRuns = this.#gathering((batch) => batch.runs);
  readonly append = this.#gathering((batch) => batch.appends);
  readonly openLeases = this.#gathering((batch) => batch.opened);
  readonly closeLeases = this.#gathering((batch) => batch.closed);
  readonly nameAssistants = this.#writing(nameAssistants, NOTHING);
  readonly saveGraphs = this.#writing(saveTestGraphs, NOTHING);
  readonly keepInputKeys = this.#writing(keepInputKeys, NOTHING);
  readonly linkRepairs = this.#writing(linkRepairs, NOTHING);
  readonly keepMetadata = this.#writing(keepMetadata, NOTHING);
  readonly copyEffects = this.#writing(copyEffects, NOTHING);
  readonly moveDeadlines = this.#writing(moveDeadlines, NOTHING);
  readonly markStops = this.#writing(markStops, NOTHING);
  readonly openApprovals = this.#writing(openApprovals, NOTHING);
  readonly closeApprovals = this.#writing(closeApprovals, NOTHING);
  readonly openWaits = this.#writing(openWaits, NOTHING);
  readonly closeWaits = this.#writing(closeWaits, NOTHING);
  readonly referValues = this.#writing(referValues, NOTHING);
  readonly bury = this.#writing(buryDeadLetters, NOTHING);
  readonly keepWebhooks = this.#writing(keepRunWebhooks, NOTHING);
  readonly post = this.#writing(postEvents, NOTHING);
  readonly nextDeltas = this.#writing(findNextDeltas, NONE);
  readonly stream = this.#fencing(appendStreamed);
  readonly beginEffects = this.#fencing(beginEffects);
  readonly commitEffects = this.#fencing(commitEffects);
  readonly extendLeases = this.#fencing(extendLeases);

  advance(changes: readonly RunChange[]): Promise<ReadonlyMap<RunId, number>> {
    if (changes.length === 0) return Promise.resolve(new Map());
    void this.#gather(() => this.#batch.changes.push(...changes), changes.length);
    return this.#sent.promise;
  }

  lock(runIds: readonly RunId[]): Promise<void> {
    const fresh = [...new Set(runIds)].filter((runId) => !this.#locked.has(runId));
    for (const runId of fresh) this.#locked.add(runId);
    if (fresh.length === 0) return NOTHING;
    return this.#keep(this.#ask(lockRuns, { runIds: fresh.toSorted() }).then(() => undefined));
  }

  enqueue(jobs: readonly NewJob[]): Promise<void> {
    const byType = Map.groupBy(jobs, (job) => job.nodeType);
    const calls = [...byType].map(([nodeType, group]) =>
      this.#queue.insert(this.#askQueue, nodeType, group),
    );
    this.#issued.push(...calls.map((call) => call.issued));
    void this.#ask(notifySchedulers, { jobs: jobNotificationPayload(this.#pipeline.id, jobs) });
    return this.#keep(Promise.all(calls.map((call) => call.done)).then(() => undefined));
  }

  dropJobs(jobs: readonly DroppedJob[]): Promise<void> {
    return jobs.length === 0 ? NOTHING : this.#keep(this.#queue.drop(this.#askQueue, jobs));
  }

  fetch(nodeType: string, count: number): Promise<readonly Job[]> {
    // The queue may look something up before it sends an insert. A fetch that overtook the insert would not find its jobs.
    const call = Promise.all(this.#issued).then(() =>
      this.#queue.fetch(this.#askQueue, nodeType, count),
    );
    this.#issued.push(call.then(({ issued }) => issued));
    return this.#keep(call.then(({ done }) => done));
  }

  moveThreads(moves: ThreadMoves): Promise<void> {
    return this.#keep(moveThreads(this.#ask, moves));
  }

  moveDays(change: DayChange): Promise<DayAnswers> {
    return this.#keep(moveDays(this.#ask, change));
  }

  moveSlots(change: SlotChange): Promise<SlotsMoved> {
    return this.#keep(moveSlots(this.#ask, change));
  }

  wake(news: readonly News[]): Promise<void> {
    const payload = news.map(wakeOf).join(",");
    const named = payload.length > WAKE_BYTES ? "*" : payload;
    return this.#gather(() => (this.#batch.wake = named), news.length);
  }

  /** A call that adds items to the batch. */
  #gathering<Item>(
    listOf: (batch: TickBatch) => Item[],
  ): (items: readonly Item[]) => Promise<void> {
    return (items) => this.#gather(() => listOf(this.#batch).push(...items), items.length);
  }

  /** A call that sends items, or nothing if there are none. */
  #writing<Item, Answer>(
    write: Write<Item, Answer>,
    none: Promise<Answer>,
  ): (items: readonly Item[]) => Promise<Answer> {
    return (items) => (items.length === 0 ? none : this.#keep(write(this.#ask, items)));
  }

  /** A call that sends reports about claims and locks their runs. A compared lease stays unchanged until the commit. */
  #fencing<Claim extends ClaimKey, Answer>(
    write: Write<Claim, readonly Answer[]>,
  ): (claims: readonly Claim[]) => Promise<readonly Answer[]> {
    return (claims) => {
      if (claims.length === 0) return NONE;
      void this.lock(claims.map((claim) => claim.runId));
      return this.#keep(write(this.#ask, claims));
    };
  }

  /** Adds to the batch. */
  #gather(add: () => void, count: number): Promise<void> {
    if (count === 0) return NOTHING;
    if (this.#batch.isEmpty) process.nextTick(() => this.#flush());
    add();
    return this.#keep(this.#sent.promise.then(() => undefined));
  }

  /** Sends the batch. */
  #flush({ isLast = false } = {}): void {
    const batch = this.#batch;
    const sent = this.#sent;
    if (batch.isEmpty) return;
    this.#batch = new TickBatch();
    this.#sent = Promise.withResolvers();
    batch.pauseEpoch = this.#pauseEpoch;
    if (!isLast || !batch.isSingle) this.#begin();
    sent.resolve(batch.send(this.#write));
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    void this.#keep(this.#client.query("begin"));
  }

  /** Sends a query behind the gathered statement. The answer arrives later. */
  readonly #ask: Send = (query, values) => {
    this.#flush();
    this.#begin();
    return this.#write(query, values);
  };

  /** Sends a statement of the queue in the same way. */
  readonly #askQueue: SendStatement = (statement) => {
    this.#flush();
    this.#begin();
    return this.#keep(this.#client.query(statement));
  };

  readonly #write: Send = (query, values) => {
    const answer = this.#client.query<Readonly<Record<string, unknown>>>(bind(query, values)).then(
      ({ rows }) => rowsOf(query, rows),
      (error: unknown) => {
        throw CONFLICTS[sqlState(error) ?? ""]?.() ?? error;
      },
    );
    return this.#keep(answer);
  };

  /**
   * Keeps an answer for the commit. Callers may ignore it: its failure appears at the commit, and must not end the process as an unhandled
   * rejection. So every promise that this class returns comes from here.
   */
  #keep<T>(answer: Promise<T>): Promise<T> {
    answer.catch((error: unknown) => {
      // Answers of one packet reject in the order of their chains, not of their statements. So the error of a statement behind the refused
      // one is ignored.
      if (sqlState(error) !== "25P02") this.#refusal ??= error;
    });
    this.#answers.push(answer);
    return answer;
  }
}
