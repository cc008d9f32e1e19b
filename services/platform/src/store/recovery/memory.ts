// Recovery in memory. A call that changes a run's row takes its turn with the transactions, like a row lock.

import type { RunId } from "@pawl/core/name/ids";
import { type DroppedJob, jobId } from "../../queue/queue.ts";
import type { Recovery, TornRun, WalkCursor } from "./recovery.ts";
import { type InTurn, pairKey } from "../memory/staging.ts";
import type { Tables } from "../memory/store.ts";
import { dropOf, type RunRow } from "../runs/memory.ts";

/** Recovery over the tables. */
export function createMemoryRecovery(tables: Tables, now: () => number, inTurn: InTurn): Recovery {
  const mark = (run: RunRow, quarantine: RunRow["quarantine"]): void => {
    tables.runs.set(run.runId, { ...run, version: run.version + 1, quarantine });
  };
  return {
    quarantine: (runId, cause) =>
      inTurn(() => {
        const run = tables.runs.get(runId);
        if (run === undefined || run.endedAt !== null || run.quarantine !== null) return false;
        mark(run, { ...cause, at: now() });
        dropOf(runId, tables.leases);
        tables.slots.abandon(runId);
        return true;
      }),
    release: (runId) =>
      inTurn(() => {
        const run = tables.runs.get(runId);
        if (run === undefined || run.quarantine === null) return false;
        mark(run, null);
        tables.snapshots.delete(runId);
        return true;
      }),
    saveSnapshot: (runId, snapshot) =>
      inTurn(() => {
        const run = tables.runs.get(runId);
        const kept = tables.snapshots.get(runId);
        if (run === undefined || run.endedAt !== null || run.quarantine !== null) return;
        if (run.lastSeq < snapshot.seq) return;
        if (kept === undefined || kept.seq < snapshot.seq || kept.format !== snapshot.format)
          tables.snapshots.set(runId, snapshot);
      }),
    dropSnapshot: (runId) => inTurn(() => void tables.snapshots.delete(runId)),
    quietRuns: async ({ quietMs, after, limit }) => {
      const page = [...tables.runs.values()]
        .filter((run) => run.endedAt === null)
        .filter(({ status }) => status !== "waiting" && status !== "paused")
        .map((run) => ({ run, cursor: cursorOf(run) }))
        .filter(({ cursor }) => after === undefined || isBehind(cursor, after))
        .toSorted((a, b) => (isBehind(a.cursor, b.cursor) ? 1 : -1))
        .slice(0, limit);
      return {
        runIds: page
          .filter(({ run }) => isQuiet(tables, run, now() - quietMs))
          .map(({ run }) => run.runId),
        next: page.length < limit ? undefined : page.at(-1)?.cursor,
      };
    },
    missingJobs: async (jobs) => jobs.filter((job) => !isWaiting(tables, job)),
    leasesOfRuns: async (runIds) => {
      const asked = new Set<RunId>(runIds);
      return [...tables.leases.values()]
        .filter(({ runId }) => asked.has(runId))
        .map(({ attempt: _attempt, leasedAt: _leasedAt, ...lease }) => lease);
    },
    // A call that changes a run's row takes its turn and holds no lock afterwards.
    lockedRuns: async () => [],
    tornRuns: async (runIds) => tornRuns(tables, runIds),
    probe: () => inTurn(() => {}),
  };
}

const tornRuns = (tables: Tables, runIds: readonly RunId[]): TornRun[] =>
  runIds.flatMap((runId) => {
    const lastSeq = tables.runs.get(runId)?.lastSeq ?? Infinity;
    const stray = tables.log.of(runId).find(({ seq }) => seq > lastSeq);
    return stray === undefined ? [] : [{ runId, straySeq: stray.seq }];
  });

/** Whether a run that is not in quarantine got no event since a time. */
function isQuiet(tables: Tables, run: RunRow, since: number): boolean {
  const last = tables.log.of(run.runId).find((event) => event.seq === run.lastSeq);
  return run.quarantine === null && (last === undefined || last.at <= since);
}

/** Whether the execution waits in its queue or for a slot. */
const isWaiting = (tables: Tables, job: DroppedJob): boolean =>
  tables.jobs.find(job.nodeType, jobId(job)) !== undefined ||
  tables.slots.awaits(job) ||
  isBehindThread(tables, job.runId);

/** Whether the run waits for a thread that another run holds. */
function isBehindThread({ threadRuns, threads }: Tables, runId: RunId): boolean {
  const run = threadRuns.get(runId);
  if (run?.state !== "waiting") return false;
  return (threads.get(pairKey(run.tenantId, run.threadId))?.holderRunId ?? null) !== null;
}

/** Times in milliseconds, padded to one width. */
const cursorOf = ({ deadlineAt, runId }: RunRow): WalkCursor => [
  String(deadlineAt).padStart(16, "0"),
  runId,
];

const isBehind = (a: WalkCursor, b: WalkCursor): boolean =>
  a[0] > b[0] || (a[0] === b[0] && a[1] > b[1]);
