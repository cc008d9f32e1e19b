// The order of jobs that are taken together. PostgreSQL gives it only as long as it joins them one by one: RETURNING has no order, and once
// the planner knows that a table is large, it uses a hash join.

import { nodeId } from "@pawl/core/name/ids";
import { openPool } from "@pawl/platform/db/pool";
import { BossQueue } from "@pawl/platform/queue/boss";
import { createJournal } from "@pawl/platform/store/tick/postgres";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../support/postgres.ts";
import { newRunId } from "./facts.ts";

test("jobs taken together come in the order of their ranks, whatever way Postgres joins them (X16)", async () => {
  const database = await freshDatabase();
  const { url } = database;
  const pool = openPool(url, { max: 2, name: "pawl-fetch-order" });
  await pool.query({
    text: "do $$ begin execute format('alter database %I set enable_nestloop = off', current_database()); end $$",
  });
  const boss = new BossQueue(url, (error) => console.warn(error));
  const journal = createJournal({ url, pool, queue: boss });
  onTestFinished(async () => {
    await journal.close();
    await boss.stop();
    await pool.end();
    await database.drop();
  });
  await boss.start(["work"]);
  const runId = newRunId();
  const jobs = Array.from({ length: 200 }, (_, n) => ({
    ...{ runId, nodeId: nodeId(`n${n}`), iteration: 0, attempt: 1 },
    ...{ nodeType: "work", priority: 200 - n },
  }));
  await journal.transact((tx) => tx.enqueue(jobs));
  const taken = await journal.transact((tx) => tx.fetch("work", 50));
  expect(taken.map((job) => job.nodeId)).toEqual(
    jobs
      .map((job) => job.nodeId)
      .toReversed()
      .slice(0, 50),
  );
});
