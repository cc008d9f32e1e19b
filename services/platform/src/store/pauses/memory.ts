// Pauses in memory. A pause takes its turn among the transactions, so nothing is under way while it is made.

import type { PauseKey, PauseRecord, Pauses } from "./pauses.ts";
import type { Tables } from "../memory/tables.ts";
import type { RunRow } from "../runs/memory.ts";
import type { TakeTurn } from "../memory/staging.ts";

/** What the table has besides what is read of it. */
export interface PauseRow extends PauseRecord {
  readonly tendedAt: number;
}

export const pauseKey = ({ scope, tenantId, name }: PauseKey): string =>
  `${scope}\n${tenantId}\n${name}`;

const toRecord = ({ tendedAt: _tendedAt, ...record }: PauseRow): PauseRecord => record;

/** Pauses over the tables. */
export const createMemoryPauses = (
  tables: Tables,
  options: { readonly now: () => number; readonly takeTurn: TakeTurn },
): Pauses => ({ ...changes(tables, options), ...following(tables, options.now) });

/** What pauses and resumes. */
function changes(
  { pauses, pauseEpoch }: Tables,
  { now, takeTurn }: { readonly now: () => number; readonly takeTurn: TakeTurn },
): Pick<Pauses, "read" | "pause" | "resume"> {
  return {
    read: async () => ({
      epoch: pauseEpoch.value,
      pauses: [...pauses.entries()]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([, row]) => toRecord(row)),
    }),
    pause: async (key, words) => {
      const endTurn = await takeTurn();
      try {
        const held = pauses.get(pauseKey(key));
        if (held !== undefined && held.state !== "resuming") return toRecord(held);
        pauseEpoch.value += 1;
        const row: PauseRow = {
          ...key,
          ...words,
          state: key.scope === "queue" ? "paused" : "pausing",
          epoch: pauseEpoch.value,
          since: now(),
          resumedBy: "",
          resumeReason: "",
          tendedAt: now(),
        };
        pauses.set(pauseKey(key), row);
        return toRecord(row);
      } finally {
        endTurn();
      }
    },
    resume: async (key, { by, reason }) => {
      const row = pauses.get(pauseKey(key));
      if (row === undefined || row.state === "resuming") return row && toRecord(row);
      pauseEpoch.value += 1;
      if (key.scope === "queue") {
        pauses.delete(pauseKey(key));
        return toRecord(row);
      }
      const resuming: PauseRow = {
        ...row,
        state: "resuming",
        epoch: pauseEpoch.value,
        resumedBy: by,
        resumeReason: reason,
        tendedAt: now(),
      };
      pauses.set(pauseKey(key), resuming);
      return toRecord(resuming);
    },
  };
}

/** What has the runs of a workflow follow. */
function following(
  { pauses, runs }: Tables,
  now: () => number,
): Pick<Pauses, "take" | "tend" | "settle" | "runsOf"> {
  const same = ({ epoch, ...key }: PauseRecord): PauseRow | undefined => {
    const row = pauses.get(pauseKey(key));
    return row?.epoch === epoch ? row : undefined;
  };
  return {
    take: async (untendedMs) => {
      const rows = [...pauses.values()].filter(
        (row) =>
          row.scope === "workflow" && row.state !== "paused" && row.tendedAt < now() - untendedMs,
      );
      for (const row of rows) pauses.set(pauseKey(row), { ...row, tendedAt: now() });
      return rows.map(toRecord);
    },
    tend: async (pause) => {
      const row = same(pause);
      if (row !== undefined) pauses.set(pauseKey(row), { ...row, tendedAt: now() });
      return row !== undefined;
    },
    settle: async (pause) => {
      const row = same(pause);
      if (row?.state === "resuming") pauses.delete(pauseKey(row));
      else if (row?.state === "pausing") pauses.set(pauseKey(row), { ...row, state: "paused" });
    },
    runsOf: async (pause, { after = "", limit }) =>
      [...runs.values()]
        .filter((run) => isMeant(run, pause) && run.runId > after)
        .map((run) => run.runId)
        .toSorted()
        .slice(0, limit),
  };
}

const isMeant = (run: RunRow, { tenantId, name, state }: PauseRecord): boolean =>
  run.tenantId === tenantId &&
  run.workflowId === name &&
  run.endedAt === null &&
  run.quarantine === null &&
  (run.status === "paused") === (state === "resuming");
