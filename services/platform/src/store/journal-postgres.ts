// The journal on Postgres: one pipelined connection for the tick's transactions, a small pool for reads.
//
// The connection may break between sending a commit and hearing of it. Then the outcome is unknown: the caller is told
// STORE_UNAVAILABLE, drops what it cached and offers its inputs again; unique keys and versions make the repeat harmless.

import type { ApprovalId, RunId } from "@pawl/core/name/ids";
import { failureKind, sqlState, storeFault } from "../db/failure.ts";
import type { Pool } from "../db/pool.ts";
import { TickConnection } from "../db/tick-connection.ts";
import type { BossQueue } from "../queue/boss.ts";
import { dueApprovals, findApproval } from "./approvals/reads.ts";
import type { Journal, Transaction } from "./journal.ts";
import {
  findInputKeys,
  findLiveChildren,
  findOverdueRuns,
  findRequests,
  loadRuns,
} from "./runs/reads.ts";
import type { LoadCursor } from "./runs/runs.ts";
import { deleteTestRun } from "./runs/writes.ts";
import { readFigures } from "./survey/reads.ts";
import type { Survey } from "./survey/survey.ts";
import { PostgresTransaction } from "./transaction-postgres.ts";

/** Longer than any transaction takes whose statements keep to their own limit. */
const TRANSACTION_MS = 15_000;

export class PostgresJournal implements Journal {
  /** Names this journal in hints to other schedulers. */
  readonly id = crypto.randomUUID();
  readonly #pool: Pool;
  readonly #boss: BossQueue;
  readonly #connection: TickConnection;

  constructor(options: {
    readonly url: string;
    readonly pool: Pool;
    readonly boss: BossQueue;
    /** The tick has a new connection, perhaps to another server. */
    readonly onConnected?: () => void;
  }) {
    const { url, onConnected } = options;
    this.#connection = new TickConnection(url, { id: this.id, onConnected });
    this.#pool = options.pool;
    this.#boss = options.boss;
  }

  async transact<T>(work: (tx: Transaction) => T | Promise<T>): Promise<T> {
    const pipeline = await this.#connection.get();
    const tx = new PostgresTransaction(pipeline, this.#boss);
    // Without it a server that vanished behind a standing connection would hold the tick for as long as TCP hopes.
    const watchdog = setTimeout(() => pipeline.cut(), TRANSACTION_MS);
    try {
      const result = await work(tx);
      await tx.commit();
      return result;
    } catch (error) {
      await tx.rollback().catch(() => {
        // The connection is gone, and the transaction with it.
      });
      // A statement behind the refused one hears only that the transaction is aborted.
      const failure = sqlState(error) === "25P02" ? (tx.refusal ?? error) : error;
      if (failureKind(failure) === "store") this.#connection.leave(pipeline);
      throw storeFault(failure);
    } finally {
      clearTimeout(watchdog);
    }
  }

  load(cursors: readonly LoadCursor[]) {
    return loadRuns(this.#pool, cursors);
  }

  findRequest(tenantId: string, requestIds: readonly string[]) {
    return findRequests(this.#pool, tenantId, requestIds);
  }

  findInputKeys(tenantId: string, inputKeys: readonly string[]) {
    return findInputKeys(this.#pool, tenantId, inputKeys);
  }

  liveChildren(runIds: readonly RunId[], limit: number) {
    return findLiveChildren(this.#pool, runIds, limit);
  }

  overdueRuns(limit: number) {
    return findOverdueRuns(this.#pool, limit);
  }

  dueApprovals(limit: number) {
    return dueApprovals(this.#pool, limit);
  }

  findApproval(approvalId: ApprovalId) {
    return findApproval(this.#pool, approvalId);
  }

  deleteTestRun(runId: RunId) {
    return deleteTestRun(this.#pool, runId);
  }

  async survey(): Promise<Survey> {
    const [queues, figures] = await Promise.all([
      this.#boss.depths(this.#pool),
      readFigures(this.#pool),
    ]);
    return { queues, ...figures };
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}
