// Recovery on Postgres, over the pool.

import type { RunId } from "@pawl/core/name/ids";
import { flag, list, number, text, uuid } from "../../db/columns.ts";
import type { Pool } from "../../db/pool.ts";
import { queriesBeside, run } from "../../db/query.ts";
import type { NodeQueue } from "../../queue/node-queue.ts";
import { leasesOfRuns } from "../leases/reads.ts";
import { withoutSlotWait } from "../slots/reads.ts";
import { withoutThreadWait } from "../threads/reads.ts";
import { type Recovery, snapshotDigest } from "./recovery.ts";

/** A place before all others of a walk. */
const BEGINNING = ["-infinity", "00000000-0000-0000-0000-000000000000"] as const;

const declare = queriesBeside(import.meta.url);

const RUN = { runId: uuid() };
const RUN_IDS = { runIds: list(uuid()) };
const FOUND = { runId: uuid<RunId>() };
const quarantine = declare("quarantine", { ...RUN, reason: text(), detail: text() }, FOUND);
const release = declare("release", RUN, FOUND);
const saveSnapshot = declare("save_snapshot", {
  ...RUN,
  seq: number(),
  format: number(),
  digest: number(),
  body: text(),
});
const dropSnapshot = declare("drop_snapshot", RUN);
const quietRuns = declare(
  "quiet_runs",
  { afterDeadline: text(), afterRunId: uuid(), limit: number(), quietMs: number() },
  { ...FOUND, deadline: text(), isQuiet: flag() },
);
const lockedRuns = declare("locked_runs", RUN_IDS, FOUND);
const tornRuns = declare("torn_runs", RUN_IDS, { ...FOUND, straySeq: number() });
const probe = declare("probe", RUN);
const endProbe = declare("end_probe", RUN);

/** Recovery over a pool. */
export const createRecovery = (
  db: Pick<Pool, "query" | "transaction">,
  queue: Pick<NodeQueue, "missing">,
): Recovery => ({
  quarantine: async (runId, { reason, detail }) =>
    (await run(db, quarantine, { runId, reason, detail })).length > 0,
  release: async (runId) => (await run(db, release, { runId })).length > 0,
  saveSnapshot: async (runId, snapshot) => {
    const digest = snapshotDigest(snapshot.body);
    await run(db, saveSnapshot, { runId, ...snapshot, digest });
  },
  dropSnapshot: async (runId) => {
    await run(db, dropSnapshot, { runId });
  },
  quietRuns: async ({ quietMs, after = BEGINNING, limit }) => {
    const [afterDeadline, afterRunId] = after;
    const rows = await run(db, quietRuns, { afterDeadline, afterRunId, limit, quietMs });
    const last = rows.length < limit ? undefined : rows.at(-1);
    return {
      runIds: rows.filter((row) => row.isQuiet).map((row) => row.runId),
      next: last === undefined ? undefined : [last.deadline, last.runId],
    };
  },
  // An execution first waits for a slot and is queued afterwards. In this order, the two reads miss no execution that moves between them.
  missingJobs: async (jobs) => {
    const inNoLine = await withoutThreadWait(db, jobs);
    return await queue.missing(db, await withoutSlotWait(db, inNoLine));
  },
  leasesOfRuns: (runIds) => leasesOfRuns(db, runIds),
  lockedRuns: async (runIds) => (await run(db, lockedRuns, { runIds })).map((row) => row.runId),
  tornRuns: (runIds) => run(db, tornRuns, { runIds }),
  probe: () =>
    db.transaction(async (tx) => {
      const ofNoRun = { runId: crypto.randomUUID() };
      await run(tx, probe, ofNoRun);
      await run(tx, endProbe, ofNoRun);
    }),
});
