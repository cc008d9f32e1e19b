// The journal in memory: the same compare-and-swap, unique keys, fencing and rollback as on Postgres, in one process.

import { isStreamedType } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import type { ApprovalPlace, DueApproval } from "../approvals/approvals.ts";
import type { Journal } from "../journal.ts";
import type { LoadCursor, LoadedRun } from "../runs/runs.ts";
import { type ApprovalRow, pairKey, type RunRow, type Tables } from "./tables.ts";
import { MemoryTransaction, type Wakes } from "./transaction.ts";
import type { TakeTurn } from "./turns.ts";

export interface MemoryJournalOptions {
  readonly now: () => number;
  /** Told after each commit which runs have news. */
  readonly onWake: (runs: Wakes) => void;
  readonly takeTurn: TakeTurn;
}

/** A journal over the tables. */
export function createMemoryJournal(tables: Tables, options: MemoryJournalOptions): Journal {
  const { takeTurn } = options;
  return {
    transact: async (work) => {
      const endTurn = await takeTurn();
      try {
        const tx = new MemoryTransaction(tables, options.now());
        const result = await work(tx);
        const wakes = tx.commit();
        if (wakes.length > 0) options.onWake(wakes);
        return result;
      } finally {
        endTurn();
      }
    },
    load: async (cursors) =>
      cursors.flatMap((cursor) => {
        const run = tables.runs.get(cursor.runId);
        return run === undefined ? [] : [toLoadedRun(tables, run, cursor)];
      }),
    findRequest: async (tenantId, requestIds) =>
      requestIds.flatMap((requestId) => {
        const run = tables.runs.get(tables.requests.get(pairKey(tenantId, requestId)) ?? NO_RUN);
        if (run === undefined) return [];
        return [{ requestId, requestHash: run.requestHash ?? "", runId: run.runId }];
      }),
    findInputKeys: async (tenantId, inputKeys) =>
      inputKeys.flatMap((inputKey) => {
        const kept = tables.inputKeys.get(pairKey(tenantId, inputKey));
        if (kept === undefined || kept.expiresAt <= options.now()) return [];
        return [{ inputKey, runId: kept.runId }];
      }),
    overdueRuns: async (limit) => {
      const now = options.now();
      return [...tables.runs.values()]
        .filter((run) => run.endedAt === null && run.quarantine === null && run.deadlineAt < now)
        .filter(({ status }) => status !== "waiting" && status !== "paused")
        .toSorted((a, b) => a.deadlineAt - b.deadlineAt)
        .slice(0, limit)
        .map((run) => run.runId);
    },
    dueApprovals: async (limit) => dueApprovals(tables, options.now()).slice(0, limit),
    findApproval: async (approvalId) => {
      const row = tables.approvals.get(approvalId);
      const run = row === undefined ? undefined : tables.runs.get(row.runId);
      if (row === undefined || run === undefined) return undefined;
      const { reason, state } = row;
      return { ...placeOf(row), definitionId: run.definitionId, reason, state };
    },
    deleteTestRun: async (runId) => {
      const endTurn = await takeTurn();
      try {
        return deleteTestRun(tables, runId);
      } finally {
        endTurn();
      }
    },
    survey: async () => {
      const now = options.now();
      const freeAt = tables.slots.nextFreeAt();
      return {
        queues: tables.jobs.depths(now),
        nextRateSlotMs: freeAt === undefined ? undefined : freeAt - now,
        openDeadLetters: [...tables.deadLetters.values()].filter((row) => row.state === "open")
          .length,
        pauseEpoch: tables.pauseEpoch.value,
      };
    },
    liveChildren: async (runIds, limit) => liveChildren(tables, runIds).slice(0, limit),
  };
}

/** Runs under way that were started for nodes of these, by id. */
function liveChildren({ runs }: Tables, parentIds: readonly RunId[]): RunId[] {
  const parents = new Set<string>(parentIds);
  const live = [...runs.values()].filter(
    (run) => run.endedAt === null && run.parent !== null && parents.has(run.parent.runId),
  );
  return live.map((run) => run.runId).toSorted();
}

/** No run has this id. */
const NO_RUN = "" as RunId;

/** Open ones with a deadline, the soonest first. */
const dueApprovals = ({ approvals }: Tables, now: number): DueApproval[] =>
  [...approvals.values()]
    .flatMap((row) =>
      row.state === "open" && row.deadlineAt !== null
        ? [{ ...placeOf(row), dueInMs: row.deadlineAt - now }]
        : [],
    )
    .toSorted((a, b) => a.dueInMs - b.dueInMs);

const placeOf = ({ approvalId, runId, nodeId, iteration }: ApprovalRow): ApprovalPlace => ({
  approvalId,
  runId,
  nodeId,
  iteration,
});

function toLoadedRun(tables: Tables, run: RunRow, cursor: LoadCursor): LoadedRun {
  const { runId, version, lastSeq, definitionId, workflowId, priority, traceparent } = run;
  const snapshot = (cursor.fromSnapshot === true ? tables.snapshots.get(runId) : null) ?? null;
  const afterSeq = snapshot?.seq ?? cursor.afterSeq;
  const all = tables.log.of(runId).filter((event) => event.seq <= lastSeq);
  return {
    ...{ runId, version, lastSeq, definitionId, workflowId, priority, traceparent },
    hasEnded: run.endedAt !== null,
    quarantine: run.quarantine,
    snapshot,
    afterSeq,
    events: all.filter((event) => event.seq > afterSeq && !isStreamedType(event.type)),
    eventCount: all.filter((event) => event.seq >= Math.max(afterSeq, 1)).length,
  };
}

function deleteTestRun(tables: Tables, runId: RunId): boolean {
  const run = tables.runs.get(runId);
  if (run?.kind !== "test" || run.endedAt === null) return false;
  tables.runs.delete(runId);
  if (run.requestId !== null) tables.requests.delete(pairKey(run.tenantId, run.requestId));
  tables.log.delete(runId);
  tables.snapshots.delete(runId);
  for (const [key, effect] of tables.effects)
    if (effect.runId === runId) tables.effects.delete(key);
  for (const { approvalId, runId: owner } of tables.approvals.values())
    if (owner === runId) tables.approvals.delete(approvalId);
  for (const { deadLetterId, runId: owner } of tables.deadLetters.values())
    if (owner === runId) tables.deadLetters.delete(deadLetterId);
  const graph = tables.definitions.get(run.definitionId);
  if (graph?.workflowId === null) tables.definitions.delete(run.definitionId);
  return true;
}
