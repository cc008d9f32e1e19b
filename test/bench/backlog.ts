// A backlog of a million other jobs in pg-boss must not slow down runs that can start at once. The bench measures the empty queue before
// and after the backlog, by turns with the full one, so that changes of the machine's speed affect both alike. A backlog of the same type
// must not delay more urgent jobs (`priority.ts`).

import { BossQueue } from "@pawl/platform/queue/boss";
import { DEFAULT_SCHEMAS } from "@pawl/platform/config/schemas";
import { priority } from "./priority.ts";
import { median } from "./report.ts";
import { type BenchParts, CHAIN, rateOf, runLoad } from "./throughput.ts";

const JOBS = 1_000_000;
const OTHER_TYPE = "bench-other";
const SHARE_MIN = 0.8;
const WARM_UP_ROUNDS = 3;

export async function backlog({ stack, report, rounds }: BenchParts): Promise<void> {
  const load = { ...CHAIN, bench: "backlog" };
  await stack.client.apply(load.bench, load.definition);
  const boss = new BossQueue(stack.databaseUrl, console.error);
  await boss.start([OTHER_TYPE]);
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) await runLoad(stack, load);
  const empty: number[] = [];
  const full: number[] = [];
  const measure = async (into: number[]): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) into.push(await rateOf(stack, load, 1));
  };
  await measure(empty);
  await fill(stack);
  await measure(full);
  await drain(stack);
  await measure(empty);
  const jobs = JOBS.toLocaleString("en");
  report.add({
    bench: "backlog",
    metric: "steps with an empty queue",
    value: median(empty),
    unit: "steps/s",
  });
  const share = median(full) / median(empty);
  report.add({
    bench: "backlog",
    metric: `steps with ${jobs} jobs waiting`,
    value: median(full),
    unit: "steps/s",
    ratio: share,
    floor: `≥ ${SHARE_MIN} ×`,
    reached: share >= SHARE_MIN,
  });
  await boss.stop();
  await priority({ stack, report });
}

/** One statement, and a checkpoint so that its pages are not written during the measurement. */
async function fill({ db }: BenchParts["stack"]): Promise<void> {
  await db.query(
    `insert into ${DEFAULT_SCHEMAS.queue}.job (name, data) select $1, '{}' from generate_series(1, $2::integer)`,
    [`node.${OTHER_TYPE}`, JOBS],
  );
  await db.query("checkpoint");
}

/** Removes the jobs and their dead rows: rows left behind would be measured as if they were a backlog. */
async function drain({ db }: BenchParts["stack"]): Promise<void> {
  await db.query(`delete from ${DEFAULT_SCHEMAS.queue}.job where name = $1`, [
    `node.${OTHER_TYPE}`,
  ]);
  await db.query(`vacuum ${DEFAULT_SCHEMAS.queue}.job`);
  await db.query("checkpoint");
}
