// What retention does with an archive, on PostgreSQL and a directory.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readRetention } from "@pawl/core/policy/retention";
import { directoryArchive } from "@pawl/platform/archive/directory";
import { type ArchiveStore, archiveNameOf } from "@pawl/platform/archive/store";
import { ensurePartitions } from "@pawl/platform/db/partitions";
import { openPool } from "@pawl/platform/db/pool";
import { createLogger } from "@pawl/platform/telemetry/log";
import { tableBlobs } from "@pawl/platform/values/table";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/folder.ts";
import { writeOldRuns } from "../../../../test/support/old-runs.ts";
import { freshDatabase } from "../../../../test/support/postgres.ts";
import { sweepRetention } from "./retention.ts";

const JUNE = new Date("2026-06-10T00:00:00Z");

async function setup() {
  const database = await freshDatabase();
  const pool = openPool(database.url, { max: 4, name: "pawl-archive" });
  const root = temporaryFolder("archive");
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
    await rm(root, { recursive: true });
  });
  await ensurePartitions(pool, { from: JUNE, months: 1 });
  const log = createLogger({ service: "test", level: "silent" });
  const archive = directoryArchive(root);
  const policy = readRetention("all=1d") ?? { statuses: [], deltasMs: Infinity };
  const blobs = tableBlobs(pool);
  return {
    ...{ pool, root, archive },
    sweep: (store: ArchiveStore = archive) =>
      sweepRetention({ pool, policy, now: Date.now, log, archive: { archive: store, log, blobs } }),
    list: () => archive.list({ prefix: "", after: "", limit: 1_000 }),
    runs: async (): Promise<string[]> => {
      const text = "select run_id::text as id from runs order by run_id";
      return (await pool.query<{ id: string }>({ text })).rows.map(({ id }) => id);
    },
  };
}

test("a run whose archive fails stays, other runs are archived and removed, and the next sweep tries it again", async () => {
  const { pool, sweep, runs, root, list } = await setup();
  const old = await writeOldRuns(pool, { at: JUNE, count: 3 });
  const [blocked = "", torn = "", whole = ""] = old;
  // A folder has the name of the object, so no file can get it.
  const path = join(root, archiveNameOf(blocked));
  await mkdir(path, { recursive: true });
  await pool.query({
    text: "delete from run_events where run_id = $1 and seq = 2",
    values: [torn],
  });
  expect(await sweep()).toBe(true);
  expect(await runs()).toEqual([blocked, torn].toSorted());
  expect(await list()).toEqual([archiveNameOf(whole)]);
  await rm(path, { recursive: true });
  await sweep();
  expect(await runs()).toEqual([torn]);
  expect(await list()).toEqual([blocked, whole].map(archiveNameOf).toSorted());
});

test("a run that changed after it was archived stays until it is archived again", async () => {
  const { pool, sweep, runs, archive } = await setup();
  const [letter = "", moved = "", same = ""] = await writeOldRuns(pool, { at: JUNE, count: 3 });
  await pool.query({
    text: `insert into dead_letters (dead_letter_id, tenant_id, run_id, node_id, iteration, attempt, node_type, deliveries, executor_id, reason, error_message)
      select gen_random_uuid(), 'default', run_id, 'n', 0, 1, 't', 3, gen_random_uuid(), '', '' from runs`,
  });
  // The change comes behind the write of each object, before its run is removed.
  const changing: ArchiveStore = {
    ...archive,
    write: async (name, data) => {
      await archive.write(name, data);
      if (name === archiveNameOf(letter))
        await pool.query({
          text: "update dead_letters set state = 'discarded' where run_id = $1",
          values: [letter],
        });
      if (name === archiveNameOf(moved))
        await pool.query({
          text: "update runs set priority = 7 where run_id = $1",
          values: [moved],
        });
    },
  };
  await sweep(changing);
  expect(await runs()).toEqual([letter, moved].toSorted());
  expect(await runs()).not.toContain(same);
  await sweep();
  expect(await runs()).toEqual([]);
});

test("the age of a restored run counts from its restore", async () => {
  const { pool, sweep, runs } = await setup();
  const [old = "", fresh = ""] = await writeOldRuns(pool, { at: JUNE, count: 2 });
  const mark = (runId: string, ago: string) =>
    pool.query({
      text: "update runs set restored_at = now() - $2::interval where run_id = $1",
      values: [runId, ago],
    });
  await mark(old, "2 days");
  await mark(fresh, "1 hour");
  await sweep();
  expect(await runs()).toEqual([fresh]);
});

test("a temporary run is removed and not archived", async () => {
  const { pool, sweep, runs, list } = await setup();
  await writeOldRuns(pool, { at: JUNE, count: 1 });
  await pool.query({ text: "update runs set kind = 'temporary'" });
  await sweep();
  expect([await runs(), await list()]).toEqual([[], []]);
});
