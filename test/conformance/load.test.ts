// The load of the system as samples count it, on PostgreSQL: ages, medians and the connection of the ticks.

import { randomUUID } from "node:crypto";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { openPool, type Pool } from "@pawl/platform/db/pool";
import { BossQueue } from "@pawl/platform/queue/boss";
import { queueName } from "@pawl/platform/queue/queue";
import { readLoad } from "@pawl/platform/store/survey/reads";
import { createJournal } from "@pawl/platform/store/tick/postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase } from "../support/postgres.ts";

const SECOND_MS = 1_000;

let url: string;
let pool: Pool;
let boss: BossQueue;
let close: () => Promise<void>;

beforeAll(async () => {
  const database = await freshDatabase();
  ({ url } = database);
  pool = openPool(url, { max: 3, name: "pawl-load" });
  boss = new BossQueue(url, console.warn);
  await boss.start(["http", "quick"]);
  close = async () => {
    await boss.stop();
    await pool.end();
    await database.drop();
  };
});
afterAll(() => close());

test("the oldest and the median age count due nodes of each queue and of all; runs wait from their start time on (S4.34)", async () => {
  for (const [queue, dueInSeconds] of [
    ...[-90, -30, -10, 600].map((due) => ["http", due] as const),
    ["quick", -2],
  ] as const)
    await pool.query({
      text: `insert into pgboss.job (id, name, start_after, created_on)
        values (gen_random_uuid(), $1, now() + $2 * interval '1 second', now() - interval '90 seconds')`,
      values: [queueName(queue), dueInSeconds],
    });
  for (const [status, ageSeconds, startInSeconds] of [
    ["pending", 100, null],
    ["pending", 60, -20],
    ["pending", 50, 600],
    ["running", 500, null],
    ["waiting", 900, null],
  ] as const)
    await pool.query({
      text: `insert into runs (run_id, tenant_id, definition_id, workflow_version, kind, status, version, last_seq, created_at, deadline_at, start_at)
        values ($1, $2, gen_random_uuid(), 1, 'saved', $3, 1, 1, now() - $4 * interval '1 second', now(), now() + $5 * interval '1 second')`,
      values: [randomUUID(), DEFAULT_TENANT, status, ageSeconds, startInSeconds],
    });
  const { total, types } = await readLoad(pool, DEFAULT_TENANT, async () => undefined);
  const seconds = (ms: number | null | undefined) => Math.floor((ms ?? -SECOND_MS) / SECOND_MS);
  const ages = (load?: { oldestMs: number | null; medianMs: number | null }) => [
    seconds(load?.oldestMs),
    seconds(load?.medianMs),
  ];
  expect(ages(types.find(({ nodeType }) => nodeType === "http"))).toEqual([90, 30]);
  expect(ages(types.find(({ nodeType }) => nodeType === "quick"))).toEqual([2, 2]);
  // Half of four ages: 90, 30, 10 and 2 s.
  expect(ages(total)).toEqual([90, 20]);
  expect(total).toMatchObject({ runsPending: 3, runsRunning: 1 });
  expect(seconds(total.pendingOldestMs)).toBe(100);
  expect(seconds(total.pendingMedianMs)).toBe(60);
});

test("the connection of the ticks is in use while a transaction is open", async () => {
  const journal = createJournal({ url, pool, queue: boss });
  expect(journal.usage()).toEqual({ size: 1, inUse: 0, idle: 0 });
  await journal.transact(() => {
    expect(journal.usage()).toEqual({ size: 1, inUse: 1, idle: 0 });
  });
  expect(journal.usage()).toEqual({ size: 1, inUse: 0, idle: 1 });
  await journal.close();
});
