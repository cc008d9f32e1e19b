// The journal on PostgreSQL: one pipelined connection for the transactions of ticks, a small pool for reads.
//
// Race: the connection breaks after a commit was sent and before its answer came. The outcome is then unknown: the caller gets
// STORE_UNAVAILABLE, drops its cache and submits its inputs again. Unique keys and versions make the repeat harmless.

import { number, orNull } from "../../db/columns.ts";
import { failureKind, sqlState, storeFault } from "../../db/failure.ts";
import type { Pool, PoolUsage } from "../../db/pool.ts";
import type { Schemas } from "../../config/schemas.ts";
import { first, queriesBeside, type Queryable } from "../../db/query.ts";
import { TickConnection } from "../../db/tick-connection.ts";
import type { NodeQueue } from "../../queue/node-queue.ts";
import { dueApprovals, findApproval } from "../approvals/reads.ts";
import {
  findInputKeys,
  findLiveChildren,
  findOverdueRuns,
  findRequests,
  loadRuns,
} from "../runs/reads.ts";
import { deleteUnkept, dueTemporary } from "../runs/writes.ts";
import { dueWaits } from "../signals/reads.ts";
import { loadThreads } from "../threads/reads.ts";
import type { Journal, Survey } from "./journal.ts";
import { PostgresTransaction } from "./transaction.ts";

/** Longer than any transaction whose statements keep their own limit. */
const TRANSACTION_MS = 15_000;

const figures = queriesBeside(import.meta.url)(
  "figures",
  {},
  {
    ...{ nextRateSlotMs: orNull(number()), openDeadLetters: number(), pauseEpoch: number() },
    ...{ webhooksPending: number(), webhookDueMs: orNull(number()) },
    bulkDueMs: orNull(number()),
  },
);

interface JournalOptions {
  readonly url: string;
  readonly pool: Pool;
  readonly queue: NodeQueue;
  readonly schemas?: Schemas | undefined;
  /** The tick has a new connection, perhaps to another server. */
  readonly onConnected?: () => void;
}

interface PostgresJournal extends Journal {
  /** Names this journal in notifications to other schedulers. */
  readonly id: string;
  /** The connection of the ticks. It is in use while a transaction is open. */
  usage(): PoolUsage;
  close(): Promise<void>;
}

/** A journal with a connection of its own, which it opens with the first transaction. */
export function createJournal(options: JournalOptions): PostgresJournal {
  const { url, pool, queue, schemas, onConnected } = options;
  const id = crypto.randomUUID();
  const connection = new TickConnection(url, { id, schemas, onConnected });
  let openCount = 0;
  return {
    id,
    transact: async (work, onSent) => {
      openCount += 1;
      try {
        return await transact({ connection, queue }, work, onSent);
      } finally {
        openCount -= 1;
      }
    },
    usage: () => {
      const inUse = Math.min(1, openCount);
      return { size: 1, inUse, idle: connection.isOpen ? 1 - inUse : 0 };
    },
    load: (cursors) => loadRuns(pool, cursors),
    findRequest: (tenantId, requestIds) => findRequests(pool, tenantId, requestIds),
    findInputKeys: (tenantId, inputKeys) => findInputKeys(pool, tenantId, inputKeys),
    loadThreads: (keys) => loadThreads(pool, keys),
    liveChildren: (runIds, limit) => findLiveChildren(pool, runIds, limit),
    overdueRuns: (limit) => findOverdueRuns(pool, limit),
    dueApprovals: (limit) => dueApprovals(pool, limit),
    dueWaits: (limit) => dueWaits(pool, limit),
    findApproval: (approvalId) => findApproval(pool, approvalId),
    deleteUnkept: (runIds) => deleteUnkept(pool, runIds),
    dueTemporary: (asked) => dueTemporary(pool, asked),
    survey: async () => {
      const [queues, counted] = await Promise.all([queue.depths(pool), readFigures(pool)]);
      return { queues, ...counted };
    },
    close: () => connection.close(),
  };
}

async function transact<T>(
  { connection, queue }: { readonly connection: TickConnection; readonly queue: NodeQueue },
  work: (tx: PostgresTransaction) => T | Promise<T>,
  onSent: () => void = () => {},
): Promise<T> {
  const pipeline = await connection.get();
  const tx = new PostgresTransaction(pipeline, queue);
  // Without this timer, a server that vanished behind an open connection would hold the tick until TCP gives up.
  const watchdog = setTimeout(() => pipeline.cut(), TRANSACTION_MS);
  try {
    const result = await work(tx);
    await tx.commit(onSent);
    return result;
  } catch (error) {
    await tx.rollback().catch(() => {
      // The connection is gone, and the transaction with it.
    });
    // A statement behind the refused one gets only the error that the transaction is aborted.
    const failure = sqlState(error) === "25P02" ? (tx.refusal ?? error) : error;
    if (failureKind(failure) === "store") connection.leave(pipeline);
    throw storeFault(failure);
  } finally {
    clearTimeout(watchdog);
  }
}

const NO_FIGURES = {
  ...{ openDeadLetters: 0, pauseEpoch: 0, webhooksPending: 0 },
  ...{ nextRateSlotMs: null, webhookDueMs: null, bulkDueMs: null },
};

/** A survey without the queues. */
async function readFigures(db: Queryable): Promise<Omit<Survey, "queues">> {
  const row = await first(db, figures, {});
  const { nextRateSlotMs, webhookDueMs, bulkDueMs, ...counted } = row ?? NO_FIGURES;
  return {
    ...counted,
    nextRateSlotMs: nextRateSlotMs ?? undefined,
    webhookDueMs: webhookDueMs ?? undefined,
    bulkDueMs: bulkDueMs ?? undefined,
  };
}
