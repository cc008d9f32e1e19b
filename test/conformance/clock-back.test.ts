// A store whose clock steps back still gives out jobs without a delay. A test cannot set PostgreSQL's clock. Moving every time of a job
// forwards by an hour has the same effect for the job.

import { nodeId } from "@pawl/core/name/ids";
import { openPool } from "@pawl/platform/db/pool";
import { BossQueue } from "@pawl/platform/queue/boss";
import { BossWorkflowQueue } from "@pawl/platform/queue/boss-workflow-queue";
import { createJournal } from "@pawl/platform/store/tick/postgres";
import type { Journal } from "@pawl/platform/store/tick/journal";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../support/postgres.ts";
import { newRunId } from "./facts.ts";
import { command } from "./workflow-queue-setup.ts";

const HOUR_MS = 3_600_000;

const job = (name: string, delayMs?: number) => ({
  ...{ runId: newRunId(), nodeId: nodeId(name), iteration: 0, attempt: 1 },
  ...{ nodeType: "work", priority: 0 },
  ...(delayMs === undefined ? {} : { delayMs }),
});

const taken = async (journal: Journal): Promise<string[]> =>
  (await journal.transact((tx) => tx.fetch("work", 10))).map((each) => each.nodeId);

const depthOf = async (journal: Journal) =>
  (await journal.survey()).queues.find((each) => each.nodeType === "work");

async function postgres() {
  const database = await freshDatabase();
  const { url } = database;
  const pool = openPool(url, { max: 2, name: "pawl-clock-back" });
  const boss = new BossQueue(url, (error) => console.warn(error));
  const journal = createJournal({ url, pool, queue: boss });
  onTestFinished(async () => {
    await journal.close();
    await boss.stop();
    await pool.end();
    await database.drop();
  });
  await boss.start(["work"]);
  const stepBack = async (): Promise<void> => {
    await pool.query({
      text: `update pgboss.job set start_after = start_after + interval '1 hour', created_on = created_on + interval '1 hour'`,
    });
  };
  return { pool, boss, journal, stepBack };
}

test("on Postgres, a job without a delay is taken after the clock stepped back by an hour", async () => {
  const { pool, journal, stepBack } = await postgres();
  await journal.transact((tx) => tx.enqueue([job("now"), job("later", 10)]));
  await stepBack();
  expect(await depthOf(journal)).toMatchObject({ waitingCount: 2, dueInMs: 0, ageMs: 0 });
  expect(await taken(journal)).toEqual(["now"]);
  await journal.transact((tx) => tx.enqueue([job("kept")]));
  const { rows } = await pool.query<{ years: number }>({
    text: `select extract(year from age(keep_until, now()))::integer as years from pgboss.job where data ->> 'n' = 'kept'`,
  });
  // pg-boss deletes a job when its retention has passed since it was due.
  expect(rows[0]?.years).toBeGreaterThanOrEqual(8);
});

test("on Postgres, a command without a delay is taken after the clock stepped back by an hour", async () => {
  const { pool, boss, stepBack } = await postgres();
  const queue = new BossWorkflowQueue({ pool, boss: boss.library, visibilityTimeoutMs: 60_000 });
  await queue.ensure();
  const jobId = await queue.enqueue(command());
  await stepBack();
  expect(await queue.dequeue("worker-1")).toMatchObject({ jobId });
});

test("in memory, a job without a delay is taken after the clock stepped back by an hour", async () => {
  const clock = { now: Date.parse("2026-06-15T12:00:00Z") };
  const { journal } = createMemoryStore({ now: () => clock.now });
  await journal.transact((tx) => tx.enqueue([job("now"), job("later", 10)]));
  clock.now -= HOUR_MS;
  expect(await depthOf(journal)).toMatchObject({ waitingCount: 2, dueInMs: 0, ageMs: 0 });
  expect(await taken(journal)).toEqual(["now"]);
});

test("the age of a queue is that of the oldest job that is due, with a delay or without", async () => {
  const { pool, journal } = await postgres();
  const age = async (nodeIdOf: string, by: string): Promise<void> => {
    const text = `update pgboss.job set start_after = start_after - interval '${by}', created_on = created_on - interval '${by}' where data ->> 'n' = '${nodeIdOf}'`;
    await pool.query({ text });
  };
  await journal.transact((tx) => tx.enqueue([job("a"), job("b", 10), job("c", HOUR_MS)]));
  await age("a", "60 seconds");
  expect((await depthOf(journal))?.ageMs).toBeGreaterThanOrEqual(60_000);
  expect((await depthOf(journal))?.ageMs).toBeLessThan(90_000);
  await age("b", "1 hour");
  expect((await depthOf(journal))?.ageMs).toBeGreaterThanOrEqual(HOUR_MS - 100);
  expect((await depthOf(journal))?.ageMs).toBeLessThan(HOUR_MS + 30_000);
  expect((await taken(journal)).toSorted()).toEqual(["a", "b"]);
  expect((await depthOf(journal))?.dueInMs).toBeGreaterThan(HOUR_MS / 2);
  expect((await depthOf(journal))?.ageMs).toBe(0);
});
