// One transaction on the pipelined connection. What is decided about runs is gathered and sent as one statement: with the
// commit, before any other statement, or at the end of this turn of the event loop, should somebody wait for its answer. A
// transaction of just that one needs no begin and no commit around it. Everything else is sent at once; failures surface at
// commit, which Postgres turns into a rollback by itself when any statement before it failed.

import { arrayLiteral } from "../db/array-literal.ts";
import type { Pipeline } from "../db/pool.ts";
import { bind, checked, type Send, type Typed } from "../db/query.ts";
import type { Statement } from "../db/sql.ts";
import { sqlState } from "../db/failure.ts";
import type { RunId } from "@pawl/core/name/ids";
import type { BossQueue, SendSql } from "../queue/boss.ts";
import type { DroppedJob, Job, NewJob } from "../queue/queue.ts";
import { jobHintPayload } from "../wake/jobs.ts";
import { wakeOf } from "../wake/listen.ts";
import { moveSlots } from "./slots/writes.ts";
import type { SlotChange, SlotsMoved } from "./slots/slots.ts";
import { PostgresFenced } from "./fenced-postgres.ts";
import { bossQuery } from "./boss-query.ts";
import { closeApprovals, openApprovals } from "./approvals/writes.ts";
import type { ClosedApproval, NewApproval } from "./approvals/approvals.ts";
import { buryDeadLetters } from "./dead-letters/writes.ts";
import type { Extension, LeaseKey, NewLease } from "./leases/leases.ts";
import { keepInputKeys, moveDeadlines, saveTestGraphs } from "./runs/writes.ts";
import type { NewDeadLetter } from "./dead-letters/dead-letters.ts";
import { PausesMoved, RunMoved, WorkflowMoved } from "./journal.ts";
import type * as fenced from "./fenced.ts";
import type * as journal from "./journal.ts";
import { hintJobs } from "./statements/hint-jobs.ts";
import { createRuns } from "./statements/create-runs.ts";
import { type Answer, type Column, lastSeqs, type Parameter, TickBatch } from "./tick-batch.ts";

/** A notification holds 8,000 bytes; beyond that every reader looks for itself. */
const WAKE_BYTES = 7_900;

/** The answer to nothing sent. */
const NOTHING = Promise.resolve();

export class PostgresTransaction implements journal.Transaction {
  readonly #pipeline: Pipeline;
  readonly #boss: BossQueue;
  readonly #answers: Promise<unknown>[] = [];
  readonly #issued: Promise<void>[] = [];
  readonly #sql: SendSql;
  #batch = new TickBatch();
  #sent = Promise.withResolvers<ReadonlyMap<RunId, number>>();
  #hasBegun = false;
  #pauseEpoch = -1;
  readonly #said: PostgresFenced;
  #refusal: unknown;

  constructor(pipeline: Pipeline, boss: BossQueue) {
    this.#pipeline = pipeline;
    this.#boss = boss;
    this.#sql = (text, values) => {
      this.#flush();
      this.#begin();
      return this.#keep(this.#client.query(bossQuery(text, values)));
    };
    this.#said = new PostgresFenced(
      // The row is what the statement selects, which only its caller knows.
      <Row extends object>(statement: Statement, columns: readonly Column[]) =>
        this.#send(statement, columns) as Promise<Row[]>,
      (answer) => this.#keep(answer),
    );
  }

  /** The connection, with what is sent now held back until the end of this turn. */
  get #client(): Pipeline["client"] {
    this.#pipeline.gather();
    return this.#pipeline.client;
  }

  /** What Postgres refused first; the statements behind it only hear that the transaction is aborted. */
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

  insertRuns(runs: readonly journal.NewRun[]): Promise<void> {
    return this.#gather(() => this.#batch.runs.push(...runs), runs.length);
  }

  saveGraphs(graphs: readonly journal.TestGraph[]): Promise<void> {
    return graphs.length === 0 ? NOTHING : this.#keep(saveTestGraphs(this.#ask, graphs));
  }

  keepInputKeys(keys: readonly journal.InputKey[]): Promise<void> {
    return keys.length === 0 ? NOTHING : this.#keep(keepInputKeys(this.#ask, keys));
  }

  advance(changes: readonly journal.RunChange[]): Promise<ReadonlyMap<RunId, number>> {
    if (changes.length === 0) return Promise.resolve(new Map());
    void this.#gather(() => this.#batch.changes.push(...changes), changes.length);
    return this.#sent.promise;
  }

  moveDeadlines(moved: readonly journal.MovedDeadline[]): Promise<void> {
    return moved.length === 0 ? NOTHING : this.#keep(moveDeadlines(this.#ask, moved));
  }

  append(facts: readonly journal.Append[]): Promise<void> {
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

  lock(runIds: readonly RunId[]): Promise<void> {
    return this.#said.lock(runIds);
  }

  stream(facts: readonly fenced.StreamedFact[]): Promise<readonly boolean[]> {
    return this.#said.stream(facts);
  }

  beginEffects(begins: readonly fenced.EffectBegin[]): Promise<readonly fenced.Begun[]> {
    return this.#said.beginEffects(begins);
  }

  commitEffects(commits: readonly fenced.EffectCommit[]): Promise<readonly fenced.Committed[]> {
    return this.#said.commitEffects(commits);
  }

  extendLeases(extensions: readonly Extension[]): Promise<readonly boolean[]> {
    return this.#said.extendLeases(extensions);
  }

  enqueue(jobs: readonly NewJob[]): Promise<void> {
    const byType = Map.groupBy(jobs, (job) => job.nodeType);
    const calls = [...byType].map(([nodeType, group]) =>
      this.#boss.insert(this.#sql, nodeType, group),
    );
    this.#issued.push(...calls.map((call) => call.issued));
    void this.#send(hintJobs, [jobHintPayload(this.#pipeline.id, jobs)]);
    return this.#keep(Promise.all(calls.map((call) => call.done)).then(() => undefined));
  }

  dropJobs(jobs: readonly DroppedJob[]): Promise<void> {
    return jobs.length === 0 ? NOTHING : this.#keep(this.#boss.drop(this.#ask, jobs));
  }

  fetch(nodeType: string, count: number): Promise<readonly Job[]> {
    const call = this.#boss.fetch(this.#sql, nodeType, count);
    this.#issued.push(call.issued);
    return this.#keep(call.done);
  }

  moveSlots(change: SlotChange): Promise<SlotsMoved> {
    return this.#keep(moveSlots(this.#ask, change));
  }

  wake(news: readonly journal.News[]): Promise<void> {
    const payload = news.map(wakeOf).join(",");
    const hint = payload.length > WAKE_BYTES ? "*" : payload;
    return this.#gather(() => (this.#batch.wake = hint), news.length);
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
    try {
      batch.pauseEpoch = this.#pauseEpoch;
      const calls = batch.calls();
      if (!isLast || calls.length > 1) this.#begin();
      const answers = calls.map(({ statement, parameters }) => this.#write(statement, parameters));
      sent.resolve(Promise.all(answers).then((all) => lastSeqs(batch.order, all)));
    } catch (error) {
      sent.reject(error);
    }
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    void this.#keep(this.#client.query("begin"));
  }

  /** Sends a statement behind what was gathered; the answer comes when it comes. */
  #send(statement: Statement, parameters: readonly Parameter[]): Promise<object[]> {
    this.#flush();
    this.#begin();
    return this.#write(statement, parameters);
  }

  #write(statement: Statement, parameters: readonly Parameter[]): Promise<Answer[]> {
    const values = parameters.map((one) => (typeof one === "object" ? arrayLiteral(one) : one));
    const query = this.#client.query<Answer>({
      ...statement,
      values,
    });
    const answer = query.then(
      (result) => result.rows,
      (error: unknown) => {
        // The only divisions and roots of these statements are their guards.
        if (sqlState(error) === "2201F") throw new PausesMoved("the pauses have changed");
        if (sqlState(error) !== "22012") throw error;
        throw statement === createRuns
          ? new WorkflowMoved("a workflow moved on")
          : new RunMoved("a run moved on");
      },
    );
    return this.#keep(answer);
  }

  /** Sends a query behind what was gathered. */
  readonly #ask: Send = (query, values) => {
    this.#flush();
    this.#begin();
    const answer = this.#client.query<Typed<typeof query.columns>>(bind(query, values));
    return this.#keep(answer.then(({ rows }) => checked(query, rows)));
  };

  /**
   * Remembers an answer for the commit. Callers may drop it: its failure surfaces at the commit, and must not end the process
   * as a rejection nobody caught. Every promise handed out has to come from here.
   */
  #keep<T>(answer: Promise<T>): Promise<T> {
    answer.catch((error: unknown) => {
      // Answers of one packet reject in the order of their chains, not of their statements: what came behind does not count.
      if (sqlState(error) !== "25P02") this.#refusal ??= error;
    });
    this.#answers.push(answer);
    return answer;
  }
}
