// The journal on Postgres: one pipelined connection for the tick's transactions, a small pool for reads.
//
// The connection may break between sending a commit and hearing of it. Then the outcome is unknown: the caller is told
// STORE_UNAVAILABLE, drops what it cached and offers its inputs again; unique keys and versions make the repeat harmless.

import type { ApprovalId, NodeId, RunId } from "@pawl/core/name/ids";
import { failureKind, sqlState, storeFault } from "../db/failure.ts";
import type { Pool } from "../db/pool.ts";
import { run } from "../db/sql.ts";
import { TickConnection } from "../db/tick-connection.ts";
import type { BossQueue } from "../queue/boss.ts";
import type { QueueDepth } from "../queue/queue.ts";
import { type EventRow, toEvent } from "./event-row.ts";
import type {
  ApprovalPlace,
  ApprovalState,
  DueApproval,
  FoundApproval,
  Journal,
  LoadCursor,
  LoadedRun,
  Transaction,
} from "./journal.ts";
import { deleteTestApprovals } from "./statements/delete-test-approvals.ts";
import { dueApprovals } from "./statements/due-approvals.ts";
import { findApproval } from "./statements/find-approval.ts";
import { readQueues } from "./read-queues.ts";
import { quarantineOf, type QuarantineRow } from "./quarantine-row.ts";
import { snapshotDigest } from "./recovery-postgres.ts";
import type { Snapshot } from "./recovery.ts";
import { countEvents } from "./statements/count-events.ts";
import { deleteTestDeadLetters } from "./statements/delete-test-dead-letters.ts";
import { deleteTestDefinition } from "./statements/delete-test-definition.ts";
import { deleteTestEffects } from "./statements/delete-test-effects.ts";
import { deleteTestEvents } from "./statements/delete-test-events.ts";
import { deleteTestRun } from "./statements/delete-test-run.ts";
import { dropSnapshot } from "./statements/drop-snapshot.ts";
import { findInputKeys } from "./statements/find-input-keys.ts";
import { findRequests } from "./statements/find-requests.ts";
import { liveChildren } from "./statements/live-children.ts";
import { loadEvents } from "./statements/load-events.ts";
import { loadRuns } from "./statements/load-runs.ts";
import { overdueRuns } from "./statements/overdue-runs.ts";
import { PostgresTransaction } from "./transaction-postgres.ts";

/** Longer than any transaction takes whose statements keep to their own limit. */
const TRANSACTION_MS = 15_000;

interface RunRow extends QuarantineRow {
  readonly run_id: RunId;
  readonly version: number;
  readonly last_seq: number;
  readonly definition_id: LoadedRun["definitionId"];
  readonly workflow_id: string | null;
  readonly priority: number;
  readonly traceparent: string | null;
  readonly has_ended: boolean;
  readonly snapshot_seq: number | null;
  readonly snapshot_format: number | null;
  readonly snapshot_digest: number | null;
  readonly snapshot_body: string | null;
}

interface PlaceRow {
  readonly approval_id: ApprovalId;
  readonly run_id: RunId;
  readonly node_id: NodeId;
  readonly iteration: number;
}

interface FoundRow extends PlaceRow {
  readonly definition_id: LoadedRun["definitionId"];
  readonly reason: string;
  readonly state: ApprovalState;
}

const placeOf = (row: PlaceRow): ApprovalPlace => ({
  approvalId: row.approval_id,
  runId: row.run_id,
  nodeId: row.node_id,
  iteration: row.iteration,
});

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

  async load(runs: readonly LoadCursor[]): Promise<LoadedRun[]> {
    if (runs.length === 0) return [];
    const rows = await run<RunRow>(this.#pool, loadRuns, [
      runs.map((each) => each.runId),
      runs.map((each) => each.fromSnapshot === true),
    ]);
    const cursors = new Map(runs.map((each) => [each.runId, each.afterSeq]));
    const found = rows.map((row) => {
      const snapshot = snapshotOf(row);
      return { row, snapshot, afterSeq: snapshot?.seq ?? cursors.get(row.run_id) ?? 0 };
    });
    const ids = found.map(({ row }) => row.run_id);
    const lastSeqs = found.map(({ row }) => row.last_seq);
    const afterSeqs = found.map(({ afterSeq }) => afterSeq);
    const [events, counts] = await Promise.all([
      run<EventRow>(this.#pool, loadEvents, [ids, afterSeqs, lastSeqs]),
      run<{ run_id: RunId; event_count: number }>(this.#pool, countEvents, [
        ids,
        afterSeqs.map((seq) => Math.max(seq, 1)),
        lastSeqs,
      ]),
    ]);
    const byRun = Map.groupBy(events.map(toEvent), (event) => event.runId);
    const countOf = new Map(counts.map((each) => [each.run_id, each.event_count]));
    return found.map(({ row, snapshot, afterSeq }) => ({
      runId: row.run_id,
      version: row.version,
      lastSeq: row.last_seq,
      hasEnded: row.has_ended,
      definitionId: row.definition_id,
      workflowId: row.workflow_id,
      priority: row.priority,
      traceparent: row.traceparent,
      quarantine: quarantineOf(row),
      snapshot,
      afterSeq,
      events: byRun.get(row.run_id) ?? [],
      eventCount: countOf.get(row.run_id) ?? 0,
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

  async liveChildren(runIds: readonly RunId[], limit: number): Promise<RunId[]> {
    const rows = await run<{ run_id: RunId }>(this.#pool, liveChildren, [runIds, limit]);
    return rows.map((row) => row.run_id);
  }

  async overdueRuns(limit: number): Promise<RunId[]> {
    const rows = await run<{ run_id: RunId }>(this.#pool, overdueRuns, [limit]);
    return rows.map((row) => row.run_id);
  }

  async dueApprovals(limit: number): Promise<readonly DueApproval[]> {
    const rows = await run<PlaceRow & { readonly due_in_ms: number }>(this.#pool, dueApprovals, [
      limit,
    ]);
    return rows.map((row) => ({ ...placeOf(row), dueInMs: row.due_in_ms }));
  }

  async findApproval(approvalId: ApprovalId): Promise<FoundApproval | undefined> {
    const [row] = await run<FoundRow>(this.#pool, findApproval, [approvalId]);
    if (row === undefined) return undefined;
    const { definition_id: definitionId, reason, state } = row;
    return { ...placeOf(row), definitionId, reason, state };
  }

  async deleteTestRun(runId: RunId): Promise<boolean> {
    return await this.#pool.transaction(async (db) => {
      const [deleted] = await run<{ definition_id: string }>(db, deleteTestRun, [runId]);
      if (deleted === undefined) return false;
      await run(db, deleteTestEvents, [runId]);
      await run(db, dropSnapshot, [runId]);
      await run(db, deleteTestEffects, [runId]);
      await run(db, deleteTestApprovals, [runId]);
      await run(db, deleteTestDeadLetters, [runId]);
      await run(db, deleteTestDefinition, [deleted.definition_id]);
      return true;
    });
  }

  queueDepths(): Promise<readonly QueueDepth[]> {
    return readQueues(this.#pool, this.#boss);
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}

/** A run's snapshot; one whose body is not what was written is none. */
function snapshotOf(row: RunRow): Snapshot | null {
  const { snapshot_seq: seq, snapshot_format: format, snapshot_body: body } = row;
  if (seq === null || format === null || body === null) return null;
  return snapshotDigest(body) === row.snapshot_digest ? { seq, format, body } : null;
}
