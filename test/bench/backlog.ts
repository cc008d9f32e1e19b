// A backlog of other jobs in pg-boss must not slow down runs that can start at once.

import { BossQueue } from "@pawl/platform/queue/boss";
import { BOSS_SCHEMA } from "@pawl/platform/queue/queue-name";
import { type BenchParts, CHAIN, rateOf, runLoad } from "./throughput.ts";

const JOBS = 100_000;
const OTHER_TYPE = "bench-other";

export async function backlog({ stack, report, rounds }: BenchParts): Promise<void> {
  const load = { ...CHAIN, bench: "backlog" };
  await stack.client.apply(load.bench, load.definition);
  await runLoad(stack, load);
  const empty = await rateOf(stack, load, rounds);
  const boss = new BossQueue(stack.databaseUrl, console.error);
  await boss.start([OTHER_TYPE]);
  await stack.db.query(
    `insert into ${BOSS_SCHEMA}.job (name, data) select $1, '{}' from generate_series(1, $2::integer)`,
    [`node.${OTHER_TYPE}`, JOBS],
  );
  const full = await rateOf(stack, load, rounds);
  report.add({
    bench: "backlog",
    metric: "nodes with an empty queue",
    value: empty,
    unit: "nodes/s",
  });
  report.add({
    bench: "backlog",
    metric: "nodes with 100,000 jobs waiting",
    value: full,
    unit: "nodes/s",
    ratio: full / empty,
  });
  await stack.db.query(`delete from ${BOSS_SCHEMA}.job where name = $1`, [`node.${OTHER_TYPE}`]);
  await boss.stop();
}
