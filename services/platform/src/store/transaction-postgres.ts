// One transaction on the pipelined connection. Every call sends its statement at once; failures surface at commit, which
// Postgres turns into a rollback by itself when any statement before it failed.

import { arrayLiteral } from "../db/array-literal.ts";
import type { Pipeline } from "../db/pool.ts";
import type { Statement } from "../db/sql.ts";
import { sqlState } from "../db/failure.ts";
import type { RunId } from "@pawl/core/name/ids";
import type { BossQueue, SendSql } from "../queue/boss.ts";
import type { DroppedJob, Job, NewJob } from "../queue/queue.ts";
import { jobHintPayload } from "../wake/jobs.ts";
import { wakeOf } from "../wake/listen.ts";
import { RunMoved, WorkflowMoved } from "./journal.ts";
import type * as journal from "./journal.ts";
import { advanceRuns } from "./statements/advance-runs.ts";
import { appendEvents } from "./statements/append-events.ts";
import { appendStreamed } from "./statements/append-streamed.ts";
import { closeLeases } from "./statements/close-leases.ts";
import { countStreamed } from "./statements/count-streamed.ts";
import { dropInputKeys } from "./statements/drop-input-keys.ts";
import { hintJobs } from "./statements/hint-jobs.ts";
import { insertRuns } from "./statements/insert-runs.ts";
import { insertTestGraph } from "./statements/insert-test-graph.ts";
import { keepInputKeys } from "./statements/keep-input-keys.ts";
import { lockRuns } from "./statements/lock-runs.ts";
import { moveDeadlines } from "./statements/move-deadlines.ts";
import { openLeases } from "./statements/open-leases.ts";
import { wakeReaders } from "./statements/wake-readers.ts";

/** A notification holds 8,000 bytes; beyond that every reader looks for itself. */
const WAKE_BYTES = 7_900;
/** pg-boss's texts are few; naming them keeps them prepared. A bound, should one ever carry its values inline. */
const NAMED_TEXTS_MAX = 200;

/** The answer to nothing sent. */
const NOTHING = Promise.resolve();

/** A parameter that is a column of rows. */
type Column = Parameters<typeof arrayLiteral>[0];
type Parameter = string | number | Column;

const bossNames = new Map<string, string>();

export class PostgresTransaction implements journal.Transaction {
  readonly #pipeline: Pipeline;
  readonly #boss: BossQueue;
  readonly #answers: Promise<unknown>[] = [];
  readonly #issued: Promise<void>[] = [];
  readonly #sql: SendSql;
  #refusal: unknown;

  constructor(pipeline: Pipeline, boss: BossQueue) {
    this.#pipeline = pipeline;
    this.#boss = boss;
    this.#sql = (text, values) => this.#keep(this.#client.query(bossQuery(text, values)));
    void this.#keep(this.#client.query("begin"));
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
    const done = this.#keep(this.#client.query("commit"));
    for (const answer of this.#answers) await answer;
    await done;
  }

  async rollback(): Promise<void> {
    await Promise.allSettled(this.#issued);
    await this.#client.query("rollback");
  }

  insertRuns(runs: readonly journal.NewRun[]): Promise<void> {
    if (runs.length === 0) return NOTHING;
    return this.#sendOnly(insertRuns, [
      runs.map((run) => run.runId),
      runs.map((run) => run.tenantId),
      runs.map((run) => run.definitionId),
      runs.map((run) => run.workflowId),
      runs.map((run) => run.workflowVersion),
      runs.map((run) => run.kind),
      runs.map((run) => run.status),
      runs.map((run) => run.eventCount),
      runs.map((run) => run.hasFailures),
      runs.map((run) => run.priority),
      runs.map((run) => run.errorMessage),
      runs.map((run) => run.requestId),
      runs.map((run) => run.requestHash),
      runs.map((run) => run.traceparent),
      runs.map((run) => run.deadlineAt),
      runs.map((run) => run.ended),
      runs.map((run) => run.assumesNewest),
      runs.map((run) => run.parent?.runId ?? null),
      runs.map((run) => run.parent?.nodeId ?? null),
      runs.map((run) => run.parent?.iteration ?? null),
    ]);
  }

  saveGraphs(graphs: readonly journal.TestGraph[]): Promise<void> {
    const sent = graphs.map(({ definitionId, tenantId, digest, title, nodeCount, body }) =>
      this.#sendOnly(insertTestGraph, [definitionId, tenantId, digest, title, nodeCount, body]),
    );
    return sent.length === 0 ? NOTHING : this.#keep(Promise.all(sent).then(() => undefined));
  }

  keepInputKeys(keys: readonly journal.InputKey[]): Promise<void> {
    if (keys.length === 0) return NOTHING;
    void this.#send(dropInputKeys, []);
    return this.#sendOnly(keepInputKeys, [
      keys.map((key) => key.tenantId),
      keys.map((key) => key.inputKey),
      keys.map((key) => key.runId),
      keys.map((key) => key.ttlMs),
    ]);
  }

  advance(changes: readonly journal.RunChange[]): Promise<ReadonlyMap<RunId, number>> {
    if (changes.length === 0) return Promise.resolve(new Map());
    const sorted = changes.toSorted((a, b) => (a.runId < b.runId ? -1 : 1));
    const rows = this.#send<{ run_id: RunId; last_seq: number }>(advanceRuns, [
      sorted.map((change) => change.runId),
      sorted.map((change) => change.expectedVersion),
      sorted.map((change) => change.eventCount),
      sorted.map((change) => change.status),
      sorted.map((change) => change.hasFailures),
      sorted.map((change) => change.errorMessage),
      sorted.map((change) => change.ended),
    ]);
    return this.#keep(
      rows.then((found) => new Map(found.map((row) => [row.run_id, row.last_seq]))),
    );
  }

  moveDeadlines(moved: readonly journal.MovedDeadline[]): Promise<void> {
    if (moved.length === 0) return NOTHING;
    return this.#sendOnly(moveDeadlines, [
      moved.map((each) => each.runId),
      moved.map((each) => each.deadlineAt),
    ]);
  }

  append(facts: readonly journal.Append[]): Promise<void> {
    if (facts.length === 0) return NOTHING;
    return this.#sendOnly(appendEvents, [
      facts.map((item) => item.runId),
      facts.map((item) => item.back),
      facts.map((item) => item.fact.type),
      facts.map((item) => item.fact.nodeId),
      facts.map((item) => item.fact.iteration),
      facts.map((item) => item.fact.attempt),
      facts.map((item) => (item.fact.type === "node.started" ? -1 : item.fact.epoch)),
      facts.map((item) => JSON.stringify(item.fact.payload)),
      facts.map((item) => item.fact.value ?? null),
    ]);
  }

  openLeases(leases: readonly journal.NewLease[]): Promise<void> {
    if (leases.length === 0) return NOTHING;
    return this.#sendOnly(openLeases, [
      ...leaseKeys(leases),
      leases.map((lease) => lease.back),
      leases.map((lease) => lease.attempt),
      leases.map((lease) => lease.executorId),
    ]);
  }

  closeLeases(keys: readonly journal.LeaseKey[]): Promise<void> {
    if (keys.length === 0) return NOTHING;
    return this.#sendOnly(closeLeases, leaseKeys(keys));
  }

  stream(sent: readonly journal.StreamedFact[]): Promise<void> {
    if (sent.length === 0) return NOTHING;
    const facts = once(sent);
    const columns = [
      ...leaseKeys(facts),
      facts.map((fact) => fact.epoch),
      facts.map((fact) => fact.type),
      facts.map((fact) => fact.ordinal),
    ];
    const runIds = [...new Set(facts.map((fact) => fact.runId))].toSorted();
    void this.#send(lockRuns, [runIds]);
    void this.#send(countStreamed, columns);
    const payloads = facts.map((fact) => JSON.stringify(fact.payload));
    return this.#sendOnly(appendStreamed, [...columns, payloads]);
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
    return jobs.length === 0 ? NOTHING : this.#keep(this.#boss.drop(this.#sql, jobs));
  }

  fetch(nodeType: string, count: number): Promise<readonly Job[]> {
    const call = this.#boss.fetch(this.#sql, nodeType, count);
    this.#issued.push(call.issued);
    return this.#keep(call.done);
  }

  wake(news: readonly journal.News[]): Promise<void> {
    if (news.length === 0) return NOTHING;
    const payload = news.map(wakeOf).join(",");
    return this.#sendOnly(wakeReaders, [payload.length > WAKE_BYTES ? "*" : payload]);
  }

  /** Sends a statement; the answer comes when it comes. */
  #send<Row extends object>(
    statement: Statement,
    parameters: readonly Parameter[],
  ): Promise<Row[]> {
    const values = parameters.map((one) => (typeof one === "object" ? arrayLiteral(one) : one));
    const query = this.#client.query<Row>({ ...statement, values });
    const answer = query.then(
      (result) => result.rows,
      (error: unknown) => {
        // The only divisions of these statements are their guards.
        if (sqlState(error) !== "22012") throw error;
        throw statement === insertRuns
          ? new WorkflowMoved("a workflow moved on")
          : new RunMoved("a run moved on");
      },
    );
    return this.#keep(answer);
  }

  #sendOnly(statement: Statement, parameters: readonly Parameter[]): Promise<void> {
    return this.#keep(this.#send(statement, parameters).then(() => undefined));
  }

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

/** A fact that was sent twice in one batch counts once; what is in the log already, the statements find. */
function once(facts: readonly journal.StreamedFact[]): readonly journal.StreamedFact[] {
  const seen = new Map<string, journal.StreamedFact>();
  for (const fact of facts) {
    const key = `${fact.runId} ${fact.epoch} ${fact.type} ${fact.ordinal}`;
    if (!seen.has(key)) seen.set(key, fact);
  }
  return [...seen.values()];
}

function leaseKeys(keys: readonly journal.LeaseKey[]): Column[] {
  return [
    keys.map((key) => key.runId),
    keys.map((key) => key.nodeId),
    keys.map((key) => key.iteration),
  ];
}

function bossQuery(text: string, values: unknown[] | undefined) {
  let name = bossNames.get(text);
  if (name === undefined && bossNames.size < NAMED_TEXTS_MAX) {
    name = `pawl_boss_${bossNames.size}`;
    bossNames.set(text, name);
  }
  return {
    text,
    ...(name === undefined ? {} : { name }),
    ...(values === undefined ? {} : { values }),
  };
}
