// The order of jobs that are taken together. PostgreSQL gives it only as long as it joins them one by one: RETURNING has no order, and once
// the planner knows that a table is large, it uses a hash join.

import { nodeId } from "@pawl/core/name/ids";
import { openPool } from "@pawl/platform/db/pool";
import { BossQueue } from "@pawl/platform/queue/boss";
import type { NodeQueue } from "@pawl/platform/queue/node-queue";
import { createJournal } from "@pawl/platform/store/tick/postgres";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../support/postgres.ts";
import { turns } from "../support/until.ts";
import { newRunId } from "./facts.ts";

/** A journal on pg-boss, and the queue `work`. `through` may put another queue in front of pg-boss. */
async function open(through: (boss: BossQueue) => NodeQueue = (boss) => boss) {
  const database = await freshDatabase();
  const { url } = database;
  const pool = openPool(url, { max: 2, name: "pawl-fetch-order" });
  const boss = new BossQueue(url, (error) => console.warn(error));
  const journal = createJournal({ url, pool, queue: through(boss) });
  onTestFinished(async () => {
    await journal.close();
    await boss.stop();
    await pool.end();
    await database.drop();
  });
  await boss.start(["work"]);
  return { journal, pool };
}

const jobsOf = (count: number) => {
  const runId = newRunId();
  return Array.from({ length: count }, (_, n) => ({
    ...{ runId, nodeId: nodeId(`n${n}`), iteration: 0, attempt: 1 },
    ...{ nodeType: "work", priority: 200 - n },
  }));
};

test("jobs taken together come in the order of their ranks, whatever way Postgres joins them (X16)", async () => {
  const { journal, pool } = await open();
  await pool.query({
    text: "do $$ begin execute format('alter database %I set enable_nestloop = off', current_database()); end $$",
  });
  const jobs = jobsOf(200);
  await journal.transact((tx) => tx.enqueue(jobs));
  const taken = await journal.transact((tx) => tx.fetch("work", 50));
  expect(taken.map((job) => job.nodeId)).toEqual(
    jobs
      .map((job) => job.nodeId)
      .toReversed()
      .slice(0, 50),
  );
});

/** pg-boss whose inserts look something up first, and wait for the answer until `lookup` settles. */
function withLookup(boss: BossQueue, lookup: Promise<void>): NodeQueue {
  const insert: NodeQueue["insert"] = (send, nodeType, jobs) => {
    const call = lookup.then(() => boss.insert(send, nodeType, jobs));
    return { issued: call.then(({ issued }) => issued), done: call.then(({ done }) => done) };
  };
  return {
    insert,
    fetch: (...call) => boss.fetch(...call),
    drop: (...call) => boss.drop(...call),
    missing: (...call) => boss.missing(...call),
    depths: (...call) => boss.depths(...call),
  };
}

test("a tick takes a job that it has queued itself, also if the insert waits for a lookup of the queue (X4)", async () => {
  const lookup = Promise.withResolvers<void>();
  const { journal } = await open((boss) => withLookup(boss, lookup.promise));
  const [job] = jobsOf(1);
  if (job === undefined) throw new Error("no job");
  // From here on pg-boss knows the queue, and sends a fetch at once.
  await journal.transact((tx) => tx.fetch("work", 1));
  const taken = await journal.transact(async (tx) => {
    void tx.enqueue([job]);
    const fetched = tx.fetch("work", 1);
    await turns(20);
    lookup.resolve();
    return await fetched;
  });
  expect(taken.map((one) => one.nodeId)).toEqual([job.nodeId]);
});
