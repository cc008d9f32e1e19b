// Writes pauses.
//
// The race it survives: a tick decides on the pauses it knows; a user pauses a workflow and gets the answer; then the tick commits
// what the pause was to prevent. Every statement that starts runs or opens leases has `leases` among its tables, so its transaction
// holds the ROW EXCLUSIVE lock of that table to its end. A pause takes the lock that conflicts: it waits for the ticks under way, and
// the next ticks wait for it. PostgreSQL takes a statement's snapshot after its table locks, so those ticks see the new epoch and
// fail on theirs. The cost for a tick is one look at a one-row table. A tick that does not go on is ended by its own limits, within
// two seconds.
//
// A resume needs no lock: a scheduler that does not know of it only waits a little longer.

import type { RunId } from "@pawl/core/name/ids";
import { number, text, uuid } from "../../db/columns.ts";
import type { Pool } from "../../db/pool.ts";
import { queriesBeside, run } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import type { Pauses, PauseState } from "./pauses.ts";
import { findPause, PAUSE, readPauses, toPause } from "./reads.ts";

/** Below every run's id. */
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

const declare = queriesBeside(import.meta.url);

const NAME = { tenantId: text(), name: text() };
const WHO = { by: text(), reason: text(), epoch: number() };
const AT_EPOCH = { ...NAME, epoch: number() };
const WALK = { ...NAME, after: uuid(), limit: number() };
const lockClaims = declare("lock_claims", {});
const raiseEpoch = declare("raise_epoch", {}, { epoch: number(), pg_notify: text() });
const insert = declare("insert", { ...NAME, ...WHO, scope: text(), state: text() }, PAUSE);
const resumeQueue = declare("resume_queue", NAME, PAUSE);
const resumeWorkflow = declare("resume_workflow", { ...NAME, ...WHO }, PAUSE);
const takeUnsettled = declare("take_unsettled", { untendedMs: number() }, PAUSE);
const tend = declare("tend", AT_EPOCH, { epoch: number() });
const settle = declare("settle", AT_EPOCH);
const forget = declare("forget", AT_EPOCH);
const dropOfWorkflow = declare("drop_of_workflow", { tenantId: text(), workflowId: text() });
const runsToPause = declare("runs_to_pause", WALK, { run_id: uuid<RunId>() });
const runsToResume = declare("runs_to_resume", WALK, { run_id: uuid<RunId>() });

/**
 * The next epoch. Comes before the change itself: its row lock makes changes take turns, so that no two have the same epoch.
 * Schedulers are notified and read the pauses again.
 */
async function raise(db: Queryable): Promise<number> {
  const [row] = await run(db, raiseEpoch, {});
  return row?.epoch ?? 0;
}

/** Pauses over a pool. */
export const createPauses = (pool: Pool): Pauses => ({
  read: () => readPauses(pool),
  pause: async (key, { by, reason }) => {
    const { scope } = key;
    const held = await findPause(pool, key);
    if (held !== undefined && held.state !== "resuming") return held;
    const state: PauseState = scope === "queue" ? "paused" : "pausing";
    return await pool.transaction(async (db) => {
      await run(db, lockClaims, {});
      const epoch = await raise(db);
      const [row] = await run(db, insert, { ...key, state, by, reason, epoch });
      const standing = row === undefined ? await findPause(db, key) : toPause(row);
      if (standing === undefined) throw new Error("a pause was neither made nor found");
      return standing;
    });
  },
  resume: async (key, { by, reason }) => {
    const { scope, tenantId, name } = key;
    const held = await findPause(pool, key);
    if (held === undefined || held.state === "resuming") return held;
    return await pool.transaction(async (db) => {
      const epoch = await raise(db);
      const [row] =
        scope === "queue"
          ? await run(db, resumeQueue, { tenantId, name })
          : await run(db, resumeWorkflow, { tenantId, name, by, reason, epoch });
      return row === undefined ? await findPause(db, key) : toPause(row);
    });
  },
  take: async (untendedMs) => (await run(pool, takeUnsettled, { untendedMs })).map(toPause),
  tend: async ({ tenantId, name, epoch }) =>
    (await run(pool, tend, { tenantId, name, epoch })).length > 0,
  settle: async ({ tenantId, name, epoch, state }) => {
    await run(pool, state === "resuming" ? forget : settle, { tenantId, name, epoch });
  },
  runsOf: async ({ tenantId, name, state }, { after = BEFORE_ALL, limit }) => {
    const walk = state === "resuming" ? runsToResume : runsToPause;
    const rows = await run(pool, walk, { tenantId, name, after, limit });
    return rows.map((row) => row.run_id);
  },
});

/** Ends the pause of a workflow that is removed, in the transaction that removes it. */
export async function dropPauseOfWorkflow(
  tx: Queryable,
  key: { readonly tenantId: string; readonly workflowId: string },
): Promise<void> {
  const { tenantId, workflowId: name } = key;
  if ((await findPause(tx, { scope: "workflow", tenantId, name })) === undefined) return;
  await raise(tx);
  await run(tx, dropOfWorkflow, key);
}
