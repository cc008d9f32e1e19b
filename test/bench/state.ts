// Time travel and memory: GetRun after random events of a run of 50,000, through the client as users have it, and the planner's cost per
// result with and without a thousand keys in the memory that no node touches.
//
// The gateway keeps checkpoints of the folds that it makes. So the first read of a far event folds the whole log before it, and is measured
// on its own. The random reads come after it, from the same gateway.

import { createPawlClient } from "@pawl/client";
import { openPool } from "@pawl/platform/db/pool";
import { BossQueue } from "@pawl/platform/queue/boss";
import { createJournal } from "@pawl/platform/store/tick/postgres";
import { costOf } from "./cost.ts";
import { append, begin } from "./load.ts";
import { microsecondsPerResult } from "./plan-cost.ts";
import { percentile } from "./report.ts";
import type { BenchParts } from "./throughput.ts";

const READS = 50;
const FLOOR_MS = 100;
const KEYS = 1_000;
const FLAT_MAX = 1.5;

export async function state({ stack, report }: BenchParts): Promise<void> {
  const url = stack.databaseUrl;
  const pool = openPool(url, { max: 4, name: "pawl-bench" });
  const boss = new BossQueue(url, () => {});
  await boss.start([]);
  const journal = createJournal({ url, pool, queue: boss });
  try {
    const { run, all } = await begin(journal);
    await append(journal, run, all.slice(1));
    await stack.db.query("vacuum (analyze) pawl.run_events");
    const client = createPawlClient({ baseUrl: stack.url });
    const timed = async (atEventId: number): Promise<number> => {
      const began = performance.now();
      await client.runs.get(run.runId, { atEventId });
      return performance.now() - began;
    };
    const add = (metric: string, value: number, more: object = {}): void =>
      report.add({ bench: "state", metric, value, unit: "ms", ...more });
    /** The CPU time does not depend on what else the machine does. */
    const cpuOf = async (reads: number, load: () => Promise<void>): Promise<void> => {
      const { cpu, seconds } = await costOf(stack, load);
      for (const name of ["gateway", "postgres", "client"])
        add(
          `  ${reads === 1 ? "first" : "random"} read: CPU of ${name}`,
          ((cpu[name] ?? 0) * seconds * 1_000) / reads,
        );
    };
    await cpuOf(1, async () => {
      add(`GetRun after event ${all.length}, first read`, await timed(all.length));
    });
    const times: number[] = [];
    await cpuOf(READS, async () => {
      // A fixed sequence of numbers, so that two builds read the same events.
      for (let read = 1; read <= READS; read++)
        times.push(await timed(1 + ((read * 7_919 * 6_151) % all.length)));
    });
    add(`GetRun after ${READS} random events, p50`, percentile(times, 0.5));
    const p99 = percentile(times, 0.99);
    const floor = { ratio: FLOOR_MS / p99, floor: `≤ ${FLOOR_MS} ms`, reached: p99 <= FLOOR_MS };
    add("  p99", p99, floor);
  } finally {
    await Promise.all([journal.close(), boss.stop()]);
    await pool.end();
  }
  microsecondsPerResult(1_000);
  const [plain, remembering] = [microsecondsPerResult(1_000), microsecondsPerResult(1_000, KEYS)];
  const ratio = remembering / plain;
  report.add({ bench: "state", metric: "per result, empty memory", value: plain, unit: "µs" });
  report.add({
    ...{ bench: "state", metric: `per result, ${KEYS} keys`, value: remembering, unit: "µs" },
    ...{ ratio, floor: `≤ ${FLAT_MAX} ×`, reached: ratio <= FLAT_MAX },
  });
}
