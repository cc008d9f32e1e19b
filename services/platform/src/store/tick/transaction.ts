// One transaction on the pipelined connection. The calls about runs are gathered and sent as one statement: with the commit, before
// any other statement, or at the end of this turn of the event loop, should the caller wait for its answer. A transaction of just
// that one statement needs no begin and no commit. Every other call is sent at once. A failure surfaces at the commit, which Postgres
// turns into a rollback when a statement before it failed.

import type { RunId } from "@pawl/core/name/ids";
import { list, text, uuid } from "../../db/columns.ts";
import { sqlState } from "../../db/failure.ts";
import type { Pipeline } from "../../db/pool.ts";
import { bind, checked, queriesBeside, type Send, type Typed } from "../../db/query.ts";
import { bossQuery } from "../../queue/boss-query.ts";
import type { BossQueue, SendSql } from "../../queue/boss.ts";
import type { DroppedJob, Job, NewJob } from "../../queue/queue.ts";
import { jobHintPayload } from "../../wake/jobs.ts";
import { wakeOf } from "../../wake/listen.ts";
import type { ClosedApproval, NewApproval } from "../approvals/approvals.ts";
import { closeApprovals, openApprovals } from "../approvals/writes.ts";
import type { NewDeadLetter } from "../dead-letters/dead-letters.ts";
import { buryDeadLetters } from "../dead-letters/writes.ts";
import type { Begun, Committed, EffectBegin, EffectCommit } from "../effects/effects.ts";
import { beginEffects, commitEffects } from "../effects/writes.ts";
import type { ClaimKey, Extension, LeaseKey, NewLease } from "../leases/leases.ts";
import { extendLeases } from "../leases/writes.ts";
import type { Append, StreamedFact } from "../log/log.ts";
import { appendStreamed, findNextDeltas } from "../log/writes.ts";
import type { InputKey, MovedDeadline, NewRun, RunChange, TestGraph } from "../runs/runs.ts";
import { keepInputKeys, moveDeadlines, saveTestGraphs } from "../runs/writes.ts";
import type { SlotChange, SlotsMoved } from "../slots/slots.ts";
import { moveSlots } from "../slots/writes.ts";
import { TickBatch } from "./batch.ts";
import { type News, PausesMoved, RunMoved, type Transaction, WorkflowMoved } from "./journal.ts";

/** A notification holds 8,000 bytes; beyond that every reader looks for itself. */
const WAKE_BYTES = 7_900;

/** What the SQLSTATEs mean that our statements raise (`pawl_require`). */
const CONFLICTS: Readonly<Record<string, () => Error>> = {
  PW001: () => new RunMoved("a run moved on"),
  PW002: () => new PausesMoved("the pauses have changed"),
  PW003: () => new WorkflowMoved("a workflow moved on"),
};

const declare = queriesBeside(import.meta.url);
const lockRuns = declare("lock_runs", { runIds: list(uuid()) }, { run_id: uuid() });
const notifySchedulers = declare("notify_schedulers", { jobs: text() }, { notified: text() });

/** The answer to nothing sent. */
const NOTHING = Promise.resolve();
const NONE = Promise.resolve([]);

export class PostgresTransaction implements Transaction {
  readonly #pipeline: Pipeline;
  readonly #boss: BossQueue;
  readonly #answers: Promise<unknown>[] = [];
  readonly #issued: Promise<void>[] = [];
  #batch = new TickBatch();
  #sent = Promise.withResolvers<ReadonlyMap<RunId, number>>();
  #hasBegun = false;
  #pauseEpoch = -1;
  /** Runs whose rows this transaction has locked by name. */
  readonly #locked = new Set<RunId>();
  #refusal: unknown;

  constructor(pipeline: Pipeline, boss: BossQueue) {
    this.#pipeline = pipeline;
    this.#boss = boss;
  }

  /** The connection, with what is sent now held back until the end of this turn. */
  get #client(): Pipeline["client"] {
    this.#pipeline.gather();
    return this.#pipeline.client;
  }

  /** What Postgres refused first; the statements behind it only get the answer that the transaction is aborted. */
  get refusal(): unknown {
    return this.#refusal;
  }

  /** Sends the commit and waits for every answer. */
  async commit(): Promise<void> {
    await Promise.all(this.#issued);
    this.#flush({ isLast: true });
    if (this.#hasBegun) void this.#keep(this.#client.query("commit"));
    for (const answer of this.#answers) await answer;
  }

  async rollback(): Promise<void> {
    // What was gathered and not sent must not be sent behind the rollback.
    this.#batch = new TickBatch();
    await Promise.allSettled(this.#issued);
    if (this.#hasBegun) await this.#client.query("rollback");
  }

  assumePauses(epoch: number): void {
    this.#pauseEpoch = epoch;
  }

  insertRuns(runs: readonly NewRun[]): Promise<void> {
    return this.#gather(() => this.#batch.runs.push(...runs), runs.length);
  }

  saveGraphs(graphs: readonly TestGraph[]): Promise<void> {
    return graphs.length === 0 ? NOTHING : this.#keep(saveTestGraphs(this.#ask, graphs));
  }

  keepInputKeys(keys: readonly InputKey[]): Promise<void> {
    return keys.length === 0 ? NOTHING : this.#keep(keepInputKeys(this.#ask, keys));
  }

  advance(changes: readonly RunChange[]): Promise<ReadonlyMap<RunId, number>> {
    if (changes.length === 0) return Promise.resolve(new Map());
    void this.#gather(() => this.#batch.changes.push(...changes), changes.length);
    return this.#sent.promise;
  }

  moveDeadlines(moved: readonly MovedDeadline[]): Promise<void> {
    return moved.length === 0 ? NOTHING : this.#keep(moveDeadlines(this.#ask, moved));
  }

  append(facts: readonly Append[]): Promise<void> {
    return this.#gather(() => this.#batch.appends.push(...facts), facts.length);
  }

  openApprovals(asked: readonly NewApproval[]): Promise<void> {
    return asked.length === 0 ? NOTHING : this.#keep(openApprovals(this.#ask, asked));
  }

  closeApprovals(ended: readonly ClosedApproval[]): Promise<void> {
    return ended.length === 0 ? NOTHING : this.#keep(closeApprovals(this.#ask, ended));
  }

  bury(letters: readonly NewDeadLetter[]): Promise<void> {
    return letters.length === 0 ? NOTHING : this.#keep(buryDeadLetters(this.#ask, letters));
  }

  openLeases(leases: readonly NewLease[]): Promise<void> {
    return this.#gather(() => this.#batch.opened.push(...leases), leases.length);
  }

  closeLeases(keys: readonly LeaseKey[]): Promise<void> {
    return this.#gather(() => this.#batch.closed.push(...keys), keys.length);
  }

  nextDeltas(keys: readonly LeaseKey[]): Promise<readonly number[]> {
    return keys.length === 0 ? NONE : this.#keep(findNextDeltas(this.#ask, keys));
  }

  lock(runIds: readonly RunId[]): Promise<void> {
    const fresh = [...new Set(runIds)].filter((runId) => !this.#locked.has(runId));
    for (const runId of fresh) this.#locked.add(runId);
    if (fresh.length === 0) return NOTHING;
    return this.#keep(this.#ask(lockRuns, { runIds: fresh.toSorted() }).then(() => undefined));
  }

  stream(facts: readonly StreamedFact[]): Promise<readonly boolean[]> {
    return this.#fenced(facts, appendStreamed);
  }

  beginEffects(begins: readonly EffectBegin[]): Promise<readonly Begun[]> {
    return this.#fenced(begins, beginEffects);
  }

  commitEffects(commits: readonly EffectCommit[]): Promise<readonly Committed[]> {
    return this.#fenced(commits, commitEffects);
  }

  extendLeases(extensions: readonly Extension[]): Promise<readonly boolean[]> {
    return this.#fenced(extensions, extendLeases);
  }

  enqueue(jobs: readonly NewJob[]): Promise<void> {
    const byType = Map.groupBy(jobs, (job) => job.nodeType);
    const calls = [...byType].map(([nodeType, group]) =>
      this.#boss.insert(this.#askBoss, nodeType, group),
    );
    this.#issued.push(...calls.map((call) => call.issued));
    void this.#ask(notifySchedulers, { jobs: jobHintPayload(this.#pipeline.id, jobs) });
    return this.#keep(Promise.all(calls.map((call) => call.done)).then(() => undefined));
  }

  dropJobs(jobs: readonly DroppedJob[]): Promise<void> {
    return jobs.length === 0 ? NOTHING : this.#keep(this.#boss.drop(this.#ask, jobs));
  }

  fetch(nodeType: string, count: number): Promise<readonly Job[]> {
    const call = this.#boss.fetch(this.#askBoss, nodeType, count);
    this.#issued.push(call.issued);
    return this.#keep(call.done);
  }

  moveSlots(change: SlotChange): Promise<SlotsMoved> {
    return this.#keep(moveSlots(this.#ask, change));
  }

  wake(news: readonly News[]): Promise<void> {
    const payload = news.map(wakeOf).join(",");
    const hint = payload.length > WAKE_BYTES ? "*" : payload;
    return this.#gather(() => (this.#batch.wake = hint), news.length);
  }

  /** Writes reports about claims with their runs locked: a lease that is compared stays as it is until the commit. */
  #fenced<Claim extends ClaimKey, Answer>(
    claims: readonly Claim[],
    write: (send: Send, claims: readonly Claim[]) => Promise<readonly Answer[]>,
  ): Promise<readonly Answer[]> {
    if (claims.length === 0) return NONE;
    void this.lock(claims.map((claim) => claim.runId));
    return this.#keep(write(this.#ask, claims));
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

  /** Sends a query behind what was gathered; the answer comes later. */
  readonly #ask: Send = (query, values) => {
    this.#flush();
    this.#begin();
    return this.#write(query, values);
  };

  /** Sends a statement of pg-boss, likewise. */
  readonly #askBoss: SendSql = (sql, values) => {
    this.#flush();
    this.#begin();
    return this.#keep(this.#client.query(bossQuery(sql, values)));
  };

  readonly #write: Send = (query, values) => {
    const answer = this.#client.query<Typed<typeof query.columns>>(bind(query, values)).then(
      ({ rows }) => checked(query, rows),
      (error: unknown) => {
        throw CONFLICTS[sqlState(error) ?? ""]?.() ?? error;
      },
    );
    return this.#keep(answer);
  };

  /**
   * Remembers an answer for the commit. Callers may drop it: its failure surfaces at the commit, and must not end the process as an
   * unhandled rejection. Every promise handed out has to come from here.
   */
  #keep<T>(answer: Promise<T>): Promise<T> {
    answer.catch((error: unknown) => {
      // Answers of one packet reject in the order of their chains, not of their statements: a statement behind the refused one does
      // not count.
      if (sqlState(error) !== "25P02") this.#refusal ??= error;
    });
    this.#answers.push(answer);
    return answer;
  }
}
