// What retention costs, and whether it bounds the disk.
//
// A month of a million events, all of finished runs: how long their removal takes, how long the drop stops writers, and how much of the
// disk comes back. Then ten days at constant load with a day's retention: each cycle writes a day of runs and removes the day before. The
// size of all tables after the tenth cycle is compared with the size after the second. VACUUM runs after each cycle, because autovacuum
// would in a real day. Between the two, some runs are archived to a directory before they are removed. Ids and times of the runs are of the past, so nothing waits.

import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRetention } from "@pawl/core/policy/retention";
import { directoryArchive } from "@pawl/platform/archive/directory";
import { tableBlobs } from "@pawl/platform/values/table";
import { dropMonth, readMonths } from "@pawl/platform/db/months";
import { ensurePartitions, partitionFor } from "@pawl/platform/db/partitions";
import { openPool, type Pool } from "@pawl/platform/db/pool";
import { createLogger } from "@pawl/platform/telemetry/log";
import { type RetentionParts, sweepRetention } from "@pawl/scheduler/duties/retention";
import { writeOldRuns } from "../support/old-runs.ts";
import { progress } from "./report.ts";
import type { BenchParts } from "./throughput.ts";

const EVENTS_PER_RUN = 50;
const MONTH_RUNS = 20_000;
const DAY_RUNS = 1_000;
const CYCLES = 10;
const ARCHIVED_RUNS = 2_000;
const DAY_MS = 24 * 3_600_000;
const DROP_MAX_MS = 1_000;
/** The part of the size of the month that PostgreSQL returns. */
const RETURNED_MIN = 0.8;
const GROWTH_MAX = 1.1;
/** Months before the present, so that no run of the stack is in them. */
const MARCH = new Date("2025-03-01T00:00:00Z");
const APRIL = new Date("2025-04-01T00:00:00Z");
const JUNE = new Date("2025-06-01T00:00:00Z");

export async function retention({ stack, report }: BenchParts): Promise<void> {
  const pool = openPool(stack.databaseUrl, { max: 2, name: "pawl-bench" });
  const log = createLogger({ service: "bench", level: "silent" });
  const add = (metric: string, value: number, unit: string, more: object = {}): void =>
    report.add({ bench: "retention", metric, value, unit, ...more });
  const sweep = async (policy: string, now = Date.now): Promise<void> => {
    const parts: RetentionParts = { pool, policy: policyOf(policy), now, log };
    while (await sweepRetention(parts));
  };
  try {
    await ensurePartitions(pool, { from: MARCH, months: 4 });
    progress("writing a million events");
    for (let day = 0; day < 20; day++) {
      const at = new Date(MARCH.getTime() + day * DAY_MS);
      await writeOldRuns(pool, { at, count: MONTH_RUNS / 20, events: EVENTS_PER_RUN });
    }
    await stack.db.query("vacuum (analyze) pawl.run_events");
    const before = await bytesOf(stack.db);
    const month = await bytesOf(stack.db, partitionFor(MARCH).name);
    // The clock is in the month, so the sweep removes its runs and leaves the month.
    const began = performance.now();
    await sweep("all=30d", () => MARCH.getTime());
    add(`${MONTH_RUNS} runs removed`, performance.now() - began, "ms");
    await timeArchive(pool, log, add);
    const dropped = await timeDrop(pool);
    add(`month of ${MONTH_RUNS * EVENTS_PER_RUN} events dropped`, dropped, "ms", {
      ...{ ratio: DROP_MAX_MS / dropped, floor: `≤ ${DROP_MAX_MS} ms` },
      reached: dropped <= DROP_MAX_MS,
    });
    await stack.db.query("vacuum (analyze) pawl.runs");
    const after = await bytesOf(stack.db);
    const returned = (before - after) / month;
    add("disk returned", (before - after) / 2 ** 20, "MiB", {
      ...{ ratio: returned, floor: `≥ ${RETURNED_MIN * 100} %`, reached: returned >= RETURNED_MIN },
    });
    const sizes: number[] = [];
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      const day = new Date(JUNE.getTime() + cycle * DAY_MS);
      await writeOldRuns(pool, { at: day, count: DAY_RUNS, events: EVENTS_PER_RUN });
      // The policy counts from the present, so the age of the virtual yesterday is this many days.
      const ageDays = Math.floor((Date.now() - day.getTime()) / DAY_MS) + 1;
      await sweep(`all=${ageDays}d,unused/all=1d`, () => day.getTime());
      for (const table of ["run_events", "runs"])
        await stack.db.query(`vacuum (analyze) pawl.${table}`);
      sizes.push(await bytesOf(stack.db));
      progress(`day ${cycle + 1}: ${Math.round((sizes.at(-1) ?? 0) / 2 ** 20)} MiB`);
    }
    const growth = (sizes.at(-1) ?? 0) / (sizes[1] ?? 1);
    add(`size after day ${CYCLES} / after day 2`, growth, "×", {
      ...{ floor: `≤ ${GROWTH_MAX} ×`, reached: growth <= GROWTH_MAX },
    });
  } finally {
    await pool.end();
  }
}

function policyOf(text: string) {
  const policy = readRetention(text);
  if (policy === undefined) throw new Error(`faulty: ${text}`);
  return policy;
}

/** Archives runs of April into a directory before they are removed, and counts their bytes. */
async function timeArchive(
  pool: Pool,
  log: RetentionParts["log"],
  add: (metric: string, value: number, unit: string) => void,
): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), "pawl-archive-"));
  try {
    const runs = { at: APRIL, count: ARCHIVED_RUNS, events: EVENTS_PER_RUN };
    await writeOldRuns(pool, runs);
    const archive = { archive: directoryArchive(root), blobs: tableBlobs(pool), log };
    const parts = { pool, policy: policyOf("all=30d"), now: () => MARCH.getTime(), log, archive };
    const began = performance.now();
    await sweepRetention(parts);
    const seconds = (performance.now() - began) / 1_000;
    add(`runs of ${EVENTS_PER_RUN} events archived and removed`, ARCHIVED_RUNS / seconds, "runs/s");
    const files = await readdir(root, { recursive: true, withFileTypes: true });
    const sizes = files
      .filter((each) => each.isFile())
      .map((each) => join(each.parentPath, each.name));
    const bytes = (await Promise.all(sizes.map((path) => stat(path)))).map(({ size }) => size);
    add(
      "archive of such a run",
      bytes.reduce((sum, each) => sum + each, 0) / bytes.length,
      "bytes",
    );
  } finally {
    await rm(root, { recursive: true });
  }
}

/** Drops the month of March. Returns how long writers had to wait at most. */
async function timeDrop(pool: Pool): Promise<number> {
  const march = (await readMonths(pool)).find(({ name }) => name === "run_events_2025_03");
  if (march === undefined) throw new Error("the month is gone already");
  const began = performance.now();
  const removal = await dropMonth(pool, march);
  if (removal !== "done") throw new Error(`the month was not dropped: ${removal}`);
  return performance.now() - began;
}

/** The size of the engine's tables whose names begin so, with their indexes: of all by default. */
async function bytesOf(db: BenchParts["stack"]["db"], prefix = ""): Promise<number> {
  const { rows } = await db.query<{ bytes: number }>(
    `select sum(pg_total_relation_size(c.oid))::float8 as bytes from pg_class c
     where c.relkind = 'r' and c.relnamespace = 'pawl'::regnamespace and starts_with(c.relname, $1)`,
    [prefix],
  );
  return rows[0]?.bytes ?? 0;
}
