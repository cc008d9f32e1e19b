// Writes pauses.
//
// Race: a tick decides on the pauses it knows. A user pauses a workflow and gets the answer. Then the tick commits a start that the pause
// should have prevented.
//
// Every statement that starts runs or opens leases uses the table `leases`, so its transaction holds the ROW EXCLUSIVE lock of that table
// to its end. A pause takes a conflicting lock: it waits for open ticks, and the next ticks wait for it. PostgreSQL takes a statement's
// snapshot after its table locks, so those ticks see the new epoch and fail on theirs. A tick pays for one read of a one-row table. Its
// time limits end a stalled tick within two seconds.
//
// A resume needs no lock: a scheduler that does not know of it only waits a little longer.

import type { RunId } from "@pawl/core/name/ids";
import { number, text, uuid } from "../../db/columns.ts";
import type { Pool } from "../../db/pool.ts";
import { first, queriesBeside, type Queryable, run } from "../../db/query.ts";
import { PAUSE, type Pauses, type PauseState } from "./pauses.ts";
import { findPause, readPauses } from "./reads.ts";

/** A value below every run's id. */
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

const declare = queriesBeside(import.meta.url);

const NAME = { tenantId: text(), name: text() };
const WORDS = { by: text(), reason: text(), epoch: number() };
const AT_EPOCH = { ...NAME, epoch: number() };
const WALK = { ...NAME, after: uuid(), limit: number() };
const lockClaims = declare("lock_claims", {});
const raiseEpoch = declare("raise_epoch", {}, { epoch: number(), pgNotify: text() });
const insert = declare("insert", { ...NAME, ...WORDS, scope: text(), state: text() }, PAUSE);
const resumeQueue = declare("resume_queue", NAME, PAUSE);
const resumeWorkflow = declare("resume_workflow", { ...NAME, ...WORDS }, PAUSE);
const takeUnsettled = declare("take_unsettled", { untendedMs: number() }, PAUSE);
const tend = declare("tend", AT_EPOCH, { epoch: number() });
const settle = declare("settle", AT_EPOCH);
const forget = declare("forget", AT_EPOCH);
const dropOfWorkflow = declare("drop_of_workflow", { tenantId: text(), workflowId: text() });
const runsToPause = declare("runs_to_pause", WALK, { runId: uuid<RunId>() });
const runsToResume = declare("runs_to_resume", WALK, { runId: uuid<RunId>() });

/**
 * Raises the epoch. Call it before the change itself: its row lock makes changes take turns, so no two have the same epoch. PostgreSQL
 * notifies the schedulers, which read the pauses again.
 */
const raise = async (db: Queryable): Promise<number> =>
  (await first(db, raiseEpoch, {}))?.epoch ?? 0;

/** Pauses over a pool. */
export const createPauses = (pool: Pool): Pauses => ({
  read: () => readPauses(pool),
  pause: async (key, { by, reason }) => {
    const held = await findPause(pool, key);
    if (held !== undefined && held.state !== "resuming") return held;
    const state: PauseState = key.scope === "queue" ? "paused" : "pausing";
    return await pool.transaction(async (db) => {
      await run(db, lockClaims, {});
      const epoch = await raise(db);
      const made = await first(db, insert, { ...key, state, by, reason, epoch });
      const pause = made ?? (await findPause(db, key));
      if (pause === undefined) throw new Error("a pause was neither made nor found");
      return pause;
    });
  },
  resume: async (key, { by, reason }) => {
    const { scope, tenantId, name } = key;
    const held = await findPause(pool, key);
    if (held === undefined || held.state === "resuming") return held;
    return await pool.transaction(async (db) => {
      const epoch = await raise(db);
      const resumed =
        scope === "queue"
          ? await first(db, resumeQueue, { tenantId, name })
          : await first(db, resumeWorkflow, { tenantId, name, by, reason, epoch });
      return resumed ?? (await findPause(db, key));
    });
  },
  take: (untendedMs) => run(pool, takeUnsettled, { untendedMs }),
  tend: async ({ tenantId, name, epoch }) =>
    (await first(pool, tend, { tenantId, name, epoch })) !== undefined,
  settle: async ({ tenantId, name, epoch, state }) => {
    await run(pool, state === "resuming" ? forget : settle, { tenantId, name, epoch });
  },
  runsOf: async ({ tenantId, name, state }, { after = BEFORE_ALL, limit }) => {
    const walk = state === "resuming" ? runsToResume : runsToPause;
    const rows = await run(pool, walk, { tenantId, name, after, limit });
    return rows.map(({ runId }) => runId);
  },
});

/** Ends the pause of a removed workflow, in the transaction that removes it. */
export async function dropPauseOfWorkflow(
  tx: Queryable,
  key: { readonly tenantId: string; readonly workflowId: string },
): Promise<void> {
  const { tenantId, workflowId: name } = key;
  if ((await findPause(tx, { scope: "workflow", tenantId, name })) === undefined) return;
  await raise(tx);
  await run(tx, dropOfWorkflow, key);
}
