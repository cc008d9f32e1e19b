// Pauses on Postgres.
//
// The race it survives: a tick decides on the pauses it knows, a pause commits and is answered, the tick commits what was not to
// happen any more. Every statement that starts runs or opens leases has `leases` among its tables, so its transaction holds that
// table's ROW EXCLUSIVE lock to its end. A pause takes the lock that conflicts: it waits for the ticks under way, and the next ones
// wait for it. PostgreSQL takes a statement's snapshot after its table locks, so those see the new epoch, and fail on theirs. Ticks
// pay nothing for it but one look at a one-row table. A tick that stands still is ended by its own limits, within two seconds.
//
// Letting go needs no lock: who has not heard of it only waits a little longer.

import type { RunId } from "@pawl/core/name/ids";
import type { Pool } from "../db/pool.ts";
import { type Queryable, run } from "../db/sql.ts";
import type { PauseBook, PauseKey, PauseRecord, Pauses, PauseState } from "./pauses.ts";
import { forgetPause } from "./statements/forget-pause.ts";
import { insertPause } from "./statements/insert-pause.ts";
import { raisePauseEpoch } from "./statements/raise-pause-epoch.ts";
import { readPause } from "./statements/read-pause.ts";
import { readPauses } from "./statements/read-pauses.ts";
import { resumeQueue } from "./statements/resume-queue.ts";
import { resumeWorkflow } from "./statements/resume-workflow.ts";
import { runsToPause } from "./statements/runs-to-pause.ts";
import { runsToResume } from "./statements/runs-to-resume.ts";
import { settlePause } from "./statements/settle-pause.ts";
import { takeUnsettledPauses } from "./statements/take-unsettled-pauses.ts";
import { tendPause } from "./statements/tend-pause.ts";

/** Conflicts with every writer of leases and with other pauses, and with no reader. */
const LOCK_CLAIMS = "lock table leases in share row exclusive mode";

/** Below every run's id. */
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

interface PauseRow {
  readonly scope: PauseKey["scope"];
  readonly tenant_id: string;
  readonly name: string;
  readonly state: PauseState;
  readonly epoch: number;
  readonly paused_by: string;
  readonly reason: string;
  readonly since: Date;
  readonly resumed_by: string;
  readonly resume_reason: string;
}

type BookRow = { readonly current_epoch: number } & (PauseRow | { readonly scope: null });

const toRecord = (row: PauseRow): PauseRecord => ({
  scope: row.scope,
  tenantId: row.tenant_id,
  name: row.name,
  state: row.state,
  epoch: row.epoch,
  by: row.paused_by,
  reason: row.reason,
  since: row.since.getTime(),
  resumedBy: row.resumed_by,
  resumeReason: row.resume_reason,
});

/** Everything that is paused. @throws STORE_UNAVAILABLE */
export async function readBook(db: Queryable): Promise<PauseBook> {
  const rows = await run<BookRow>(db, readPauses, []);
  return {
    epoch: rows[0]?.current_epoch ?? 0,
    pauses: rows.flatMap((row) => (row.scope === null ? [] : [toRecord(row)])),
  };
}

/** How one thing is held, if it is. */
async function find(
  db: Queryable,
  { scope, tenantId, name }: PauseKey,
): Promise<PauseRecord | undefined> {
  const [row] = await run<PauseRow>(db, readPause, [scope, tenantId, name]);
  return row && toRecord(row);
}

async function raise(db: Queryable): Promise<number> {
  const [row] = await run<{ epoch: number }>(db, raisePauseEpoch, []);
  return row?.epoch ?? 0;
}

export const createPauses = (pool: Pool): Pauses => ({
  read: () => readBook(pool),
  pause: async (key, { by, reason }) => {
    const { scope, tenantId, name } = key;
    const held = await find(pool, key);
    if (held !== undefined && held.state !== "resuming") return held;
    const state: PauseState = scope === "queue" ? "paused" : "pausing";
    return await pool.transaction(async (db) => {
      await db.query({ text: LOCK_CLAIMS });
      const values = [scope, tenantId, name, state, by, reason, await raise(db)];
      const [row] = await run<PauseRow>(db, insertPause, values);
      const standing = row === undefined ? await find(db, key) : toRecord(row);
      if (standing === undefined) throw new Error("a pause was neither made nor found");
      return standing;
    });
  },
  resume: async (key, { by, reason }) => {
    const { scope, tenantId, name } = key;
    const held = await find(pool, key);
    if (held === undefined || held.state === "resuming") return held;
    return await pool.transaction(async (db) => {
      const epoch = await raise(db);
      const [row] =
        scope === "queue"
          ? await run<PauseRow>(db, resumeQueue, [tenantId, name])
          : await run<PauseRow>(db, resumeWorkflow, [tenantId, name, by, reason, epoch]);
      return row === undefined ? await find(db, key) : toRecord(row);
    });
  },
  take: async (untendedMs) =>
    (await run<PauseRow>(pool, takeUnsettledPauses, [untendedMs])).map(toRecord),
  tend: async ({ tenantId, name, epoch }) =>
    (await run(pool, tendPause, [tenantId, name, epoch])).length > 0,
  settle: async ({ tenantId, name, epoch, state }) => {
    await run(pool, state === "resuming" ? forgetPause : settlePause, [tenantId, name, epoch]);
  },
  runsOf: async ({ tenantId, name, state }, { after, limit }) => {
    const statement = state === "resuming" ? runsToResume : runsToPause;
    const values = [tenantId, name, after ?? BEFORE_ALL, limit];
    return (await run<{ run_id: RunId }>(pool, statement, values)).map((row) => row.run_id);
  },
});
