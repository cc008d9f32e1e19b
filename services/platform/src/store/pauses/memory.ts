// Pauses in memory. A pause takes its turn among the transactions, so no transaction is open while the store writes it.

import type { InTurn } from "../memory/staging.ts";
import type { Tables } from "../memory/store.ts";
import type { RunRow } from "../runs/memory.ts";
import { subscribedEvents } from "../webhooks/memory.ts";
import type { PauseKey, PauseRecord, Pauses } from "./pauses.ts";

export interface PauseRow extends PauseRecord {
  readonly tendedAt: number;
}

export const pauseKey = ({ scope, tenantId, name }: PauseKey): string =>
  `${scope}\n${tenantId}\n${name}`;

const toRecord = ({ tendedAt: _tendedAt, ...record }: PauseRow): PauseRecord => record;

/** Pauses over the tables. */
export function createMemoryPauses(tables: Tables, now: () => number, inTurn: InTurn): Pauses {
  const { pauses, pauseEpoch, runs } = tables;
  const put = (row: PauseRecord): PauseRecord => {
    pauses.set(pauseKey(row), { ...row, tendedAt: now() });
    return row;
  };
  const atEpoch = ({ epoch, ...key }: PauseRecord): PauseRow | undefined => {
    const row = pauses.get(pauseKey(key));
    return row?.epoch === epoch ? row : undefined;
  };
  return {
    read: async () => ({
      epoch: pauseEpoch.value,
      pauses: [...pauses].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => toRecord(row)),
      webhookEvents: subscribedEvents(tables),
    }),
    pause: (key, words) =>
      inTurn(() => {
        const held = pauses.get(pauseKey(key));
        if (held !== undefined && held.state !== "resuming") return toRecord(held);
        pauseEpoch.value += 1;
        const state = key.scope === "queue" ? "paused" : "pausing";
        const begun = { state, epoch: pauseEpoch.value, since: now() } as const;
        return put({ ...key, ...words, ...begun, resumedBy: "", resumeReason: "" });
      }),
    resume: async (key, { by: resumedBy, reason: resumeReason }) => {
      const row = pauses.get(pauseKey(key));
      if (row === undefined || row.state === "resuming") return row && toRecord(row);
      const epoch = (pauseEpoch.value += 1);
      if (key.scope === "workflow")
        return put({ ...toRecord(row), state: "resuming", epoch, resumedBy, resumeReason });
      pauses.delete(pauseKey(key));
      return toRecord(row);
    },
    take: async (untendedMs) =>
      [...pauses.values()]
        .filter(({ scope, state }) => scope === "workflow" && state !== "paused")
        .filter(({ tendedAt }) => tendedAt < now() - untendedMs)
        .map((row) => put(toRecord(row))),
    tend: async (pause) => {
      const row = atEpoch(pause);
      if (row !== undefined) put(toRecord(row));
      return row !== undefined;
    },
    settle: async (pause) => {
      const row = atEpoch(pause);
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
