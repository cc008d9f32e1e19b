// Bulks in PostgreSQL: a stop that races with a step, and the removal of old bulks.
import { randomUUID } from "node:crypto";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase } from "../../../../../test/support/postgres.ts";
import { until } from "../../../../../test/support/until.ts";
import { openPool, type Pool } from "../../db/pool.ts";
import type { Bulks } from "./bulks.ts";
import { createBulks } from "./writes.ts";

let pool: Pool;
let bulks: Bulks;
let close: () => Promise<void>;

beforeAll(async () => {
  const database = await freshDatabase();
  pool = openPool(database.url, { max: 3, name: "bulks" });
  bulks = createBulks(pool);
  close = async () => {
    await pool.end();
    await database.drop();
  };
});
afterAll(() => close());

async function countOf(text: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>({ text });
  return rows[0]?.count ?? 0;
}

/** A bulk with this many runs. It ended this many days ago, or has not ended. */
async function insertBulk(runs: number, endedDays: number | null = null): Promise<string> {
  const bulkId = randomUUID();
  await pool.query({
    text: `insert into bulks (bulk_id, tenant_id, request_hash, action, filter, options, state, matched, ended_at)
      values ($1, $2, '', 'cancel', '', '{}', $3, $4, now() - $5::double precision * interval '1 day')`,
    values: [
      ...[bulkId, DEFAULT_TENANT, endedDays === null ? "running" : "completed", runs, endedDays],
    ],
  });
  await pool.query({
    text: `insert into bulk_runs (bulk_id, position, run_id) select $1, n, gen_random_uuid() from generate_series(1, $2::integer) n`,
    values: [bulkId, runs],
  });
  return bulkId;
}

test("a stop that waits for a step does not end the bulk while the runs of the step are under way", async () => {
  const bulkId = await insertBulk(2);
  const stop = { bulkId, from: "running", to: "stopped", reason: "" } as const;
  const stopping = await pool.transaction(async (db) => {
    const step = createBulks({ ...pool, query: (asked) => db.query(asked) });
    expect(await step.begin({ bulkId, state: "running" }, { limit: 1, upTo: 2 })).toHaveLength(1);
    const moved = bulks.move(stop);
    const waits = "select count(*)::integer as count from pg_locks where not granted";
    await until(async () => (await countOf(waits)) > 0, { what: "the stop waits for the step" });
    return { moved };
  });
  expect(await stopping.moved).toBe(true);
  expect(await bulks.find(bulkId)).toMatchObject({ state: "stopped", endedAt: null });
  // Another scheduler finds the bulk, and finishes the run that was begun.
  expect((await bulks.active(5)).map((bulk) => bulk.bulkId)).toEqual([bulkId]);
  const finish = () => bulks.begin({ bulkId, state: "stopped" }, { limit: 50, upTo: 2 });
  expect(await finish()).toMatchObject([{ position: 1, attempts: 2 }]);
  const outcome = { outcome: "done", reason: "", message: "", newRunId: null } as const;
  await bulks.record(bulkId, [{ position: 1, ...outcome }], 0);
  expect(await finish()).toEqual([]);
  await bulks.end(bulkId);
  expect(await bulks.active(5)).toEqual([]);
});

test("a bulk with more runs than one statement deletes is forgotten in steps, and a younger bulk stays", async () => {
  const [older, old, young] = [
    await insertBulk(25, 40),
    await insertBulk(3, 35),
    await insertBulk(4, 1),
  ];
  const steps: number[] = [];
  let isMore = true;
  while (isMore) {
    const before = await countOf("select count(*)::integer as count from bulk_runs");
    isMore = await bulks.forget(30 * 86_400_000, 10);
    steps.push(before - (await countOf("select count(*)::integer as count from bulk_runs")));
  }
  expect(steps).toEqual([10, 10, 5, 3, 0]);
  expect(await bulks.find(older)).toBeUndefined();
  expect(await bulks.find(old)).toBeUndefined();
  expect(await bulks.find(young)).toMatchObject({ matched: 4 });
});
