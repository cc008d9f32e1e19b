// The journal on Postgres: one pipelined connection for the tick's transactions, a small pool for reads.
//
// The connection may break between sending a commit and hearing of it. Then the outcome is unknown: the caller is told
// STORE_UNAVAILABLE, drops what it cached and offers its inputs again; unique keys and versions make the repeat harmless.

import type { RunId } from "@pawl/core/name/ids";
import { sqlState, storeFault } from "../db/failure.ts";
import { openPipeline, type Pipeline, type Pool } from "../db/pool.ts";
import { run } from "../db/sql.ts";
import type { BossQueue } from "../queue/boss.ts";
import { BOSS_SCHEMA, queueName } from "../queue/queue-name.ts";
import type { QueueDepth } from "../queue/queue.ts";
import { type EventRow, toEvent } from "./event-row.ts";
import type { Journal, LoadedRun, Transaction } from "./journal.ts";
import { deleteTestDefinition } from "./statements/delete-test-definition.ts";
import { deleteTestEvents } from "./statements/delete-test-events.ts";
import { deleteTestRun } from "./statements/delete-test-run.ts";
import { findInputKeys } from "./statements/find-input-keys.ts";
import { findRequests } from "./statements/find-requests.ts";
import { loadEvents } from "./statements/load-events.ts";
import { loadRuns } from "./statements/load-runs.ts";
import { overdueRuns } from "./statements/overdue-runs.ts";
import { PostgresTransaction } from "./transaction-postgres.ts";

interface RunRow {
  readonly run_id: RunId;
  readonly version: number;
  readonly last_seq: number;
  readonly definition_id: LoadedRun["definitionId"];
  readonly workflow_id: string | null;
  readonly priority: number;
  readonly traceparent: string | null;
}

export class PostgresJournal implements Journal {
  /** Names this journal in hints to other schedulers. */
  readonly id = crypto.randomUUID();
  readonly #url: string;
  readonly #pool: Pool;
  readonly #boss: BossQueue;
  #pipeline: Promise<Pipeline> | undefined;

  constructor(options: { readonly url: string; readonly pool: Pool; readonly boss: BossQueue }) {
    this.#url = options.url;
    this.#pool = options.pool;
    this.#boss = options.boss;
  }

  async transact<T>(work: (tx: Transaction) => T | Promise<T>): Promise<T> {
    const pipeline = await this.#connect();
    const tx = new PostgresTransaction(pipeline, this.#boss);
    try {
      const result = await work(tx);
      await tx.commit();
      return result;
    } catch (error) {
      await tx.rollback().catch(() => {
        // The connection is gone, and the transaction with it.
      });
      // A statement behind the refused one hears only that the transaction is aborted.
      throw storeFault(sqlState(error) === "25P02" ? (tx.refusal ?? error) : error);
    }
  }

  async load(
    runs: readonly { readonly runId: RunId; readonly afterSeq: number }[],
  ): Promise<LoadedRun[]> {
    if (runs.length === 0) return [];
    const rows = await run<RunRow>(this.#pool, loadRuns, [runs.map((each) => each.runId)]);
    const cursors = new Map(runs.map((each) => [each.runId, each.afterSeq]));
    const events = await run<EventRow>(this.#pool, loadEvents, [
      rows.map((row) => row.run_id),
      rows.map((row) => cursors.get(row.run_id) ?? 0),
      rows.map((row) => row.last_seq),
    ]);
    const byRun = Map.groupBy(events.map(toEvent), (event) => event.runId);
    return rows.map((row) => ({
      runId: row.run_id,
      version: row.version,
      definitionId: row.definition_id,
      workflowId: row.workflow_id,
      priority: row.priority,
      traceparent: row.traceparent,
      events: byRun.get(row.run_id) ?? [],
    }));
  }

  async findRequest(tenantId: string, requestIds: readonly string[]) {
    const rows = await run<{ request_id: string; request_hash: string; run_id: RunId }>(
      this.#pool,
      findRequests,
      [tenantId, requestIds],
    );
    return rows.map((row) => ({
      requestId: row.request_id,
      requestHash: row.request_hash,
      runId: row.run_id,
    }));
  }

  async findInputKeys(tenantId: string, inputKeys: readonly string[]) {
    const rows = await run<{ input_key: string; run_id: RunId }>(this.#pool, findInputKeys, [
      tenantId,
      inputKeys,
    ]);
    return rows.map((row) => ({ inputKey: row.input_key, runId: row.run_id }));
  }

  async overdueRuns(limit: number): Promise<RunId[]> {
    const rows = await run<{ run_id: RunId }>(this.#pool, overdueRuns, [limit]);
    return rows.map((row) => row.run_id);
  }

  async deleteTestRun(runId: RunId): Promise<boolean> {
    return await this.#pool.transaction(async (db) => {
      const [deleted] = await run<{ definition_id: string }>(db, deleteTestRun, [runId]);
      if (deleted === undefined) return false;
      await run(db, deleteTestEvents, [runId]);
      await run(db, deleteTestDefinition, [deleted.definition_id]);
      return true;
    });
  }

  async queueDepths(): Promise<readonly QueueDepth[]> {
    const names = this.#boss.nodeTypes;
    // One index probe a queue for the next due time, and a count that stops at a bound: never a scan of a long backlog.
    const { rows } = await this.#pool.query<{
      type: string;
      due_in_ms: number | null;
      waiting: number;
    }>({
      name: "pawl_queue_depths",
      text: `
select n.type,
  (select extract(epoch from (j.start_after - now()))::float8 * 1000
   from ${BOSS_SCHEMA}.job j
   where j.name = n.queue and j.state < 'active'
   order by j.start_after
   limit 1) as due_in_ms,
  (select count(*)::integer
   from (select 1 from ${BOSS_SCHEMA}.job j where j.name = n.queue and j.state < 'active' limit 100000) waiting) as waiting
from unnest($1::text[], $2::text[]) as n (type, queue)`,
      values: [names, names.map(queueName)],
    });
    return rows.map((row) => ({
      nodeType: row.type,
      waitingCount: row.waiting,
      ...(row.due_in_ms === null ? {} : { dueInMs: row.due_in_ms }),
    }));
  }

  async close(): Promise<void> {
    const pipeline = this.#pipeline;
    this.#pipeline = undefined;
    await (await pipeline)?.client.end();
  }

  #connect(): Promise<Pipeline> {
    this.#pipeline ??= openPipeline(this.#url, {
      name: "pawl-tick",
      id: this.id,
      onBroken: () => {
        this.#pipeline = undefined;
      },
    }).catch((error: unknown) => {
      this.#pipeline = undefined;
      throw storeFault(error);
    });
    return this.#pipeline;
  }
}
