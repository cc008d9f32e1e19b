// Partitions as ranges of run ids, pure and on Postgres.

import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../../../test/support/postgres.ts";
import { ensurePartitions, partitionFor } from "./partitions.ts";
import { openPool, type Pool } from "./pool.ts";

const NOVEMBER = new Date("2026-11-16T12:00:00Z");
const DECEMBER = new Date("2026-12-01T00:00:00Z");

/** A UUIDv7 of that millisecond. */
function runIdAt(date: Date): string {
  const hex = date.getTime().toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7abc-8def-0123456789ab`;
}

async function setup() {
  const database = await freshDatabase();
  const pool = openPool(database.url, { max: 4, name: "pawl-partitions" });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  const rows = async (text: string) => (await pool.query<{ name: string }>({ text })).rows;
  /** Which partition holds the events, in order. */
  const homes = async () =>
    (
      await rows("select tableoid::regclass::text as name from run_events order by run_id, seq")
    ).map((row) => row.name);
  return { pool, homes };
}

const appendEvent = (pool: Pool, runId: string) =>
  pool.query({
    text: `insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload)
           values ($1::uuid, 1, 'run.started', '', 0, 0, 0, 0, '{}')`,
    values: [runId],
  });

test("a month is the range of the run ids made in it, and the next begins where it ends", () => {
  const november = partitionFor(NOVEMBER);
  expect(november.name).toBe("run_events_2026_11");
  expect(november.fromUuid).toBe(`${hexOf("2026-11-01T00:00:00Z")}-0000-0000-000000000000`);
  expect(november.toUuid).toBe(partitionFor(DECEMBER).fromUuid);
  expect(runIdAt(NOVEMBER) > november.fromUuid && runIdAt(NOVEMBER) < november.toUuid).toBe(true);
  expect(runIdAt(DECEMBER) > november.toUuid).toBe(true);
  expect(partitionFor(new Date("2026-12-31T23:59:59.999Z")).name).toBe("run_events_2026_12");
});

test("events go to the partition of the month their run began in", async () => {
  const { pool, homes } = await setup();
  const made = await ensurePartitions(pool, { from: NOVEMBER, months: 2 });
  expect(made).toEqual(["run_events_2026_11", "run_events_2026_12"]);
  const later = new Date("2027-02-01T00:00:00Z");
  for (const date of [NOVEMBER, DECEMBER, later]) await appendEvent(pool, runIdAt(date));
  expect(await homes()).toEqual(["run_events_2026_11", "run_events_2026_12", "run_events_default"]);
});

test("two calls at once make no partition twice, nor does a later call", async () => {
  const { pool } = await setup();
  const made = await Promise.all(
    [1, 2, 3].map(() => ensurePartitions(pool, { from: NOVEMBER, months: 3 })),
  );
  expect(made.flat().toSorted()).toEqual([...new Set(made.flat())].toSorted());
  await ensurePartitions(pool, { from: NOVEMBER, months: 3 });
  expect(await ensurePartitions(pool, { from: NOVEMBER, months: 3 })).toEqual([]);
});

test("a month whose rows are in the default partition gets no partition, and other months do", async () => {
  const { pool, homes } = await setup();
  await appendEvent(pool, runIdAt(NOVEMBER));
  const made = await ensurePartitions(pool, { from: NOVEMBER, months: 2 });
  expect(made).toEqual(["run_events_2026_12"]);
  await appendEvent(pool, runIdAt(new Date(NOVEMBER.getTime() + 1)));
  expect(await homes()).toEqual(["run_events_default", "run_events_default"]);
});

test("a partition gives way to an open writer, and the next call makes it", async () => {
  const { pool } = await setup();
  const writer = await pool.connect();
  await writer.query({ text: "begin" });
  await writer.query({ text: "lock table run_events in row exclusive mode" });
  expect(await ensurePartitions(pool, { from: NOVEMBER, months: 1 })).toEqual([]);
  await writer.query({ text: "rollback" });
  writer.release();
  expect(await ensurePartitions(pool, { from: NOVEMBER, months: 1 })).toHaveLength(1);
});

function hexOf(date: string): string {
  const hex = Date.parse(date).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
