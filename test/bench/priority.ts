// How long an urgent job waits while a hundred thousand jobs of its type and a lower priority are in line and every executor is busy with
// them. Measured in ticks, the steps of the scheduler: a job that is queued in one tick and claimed in the next waited one.

import { DEFAULT_SCHEMAS } from "@pawl/platform/config/schemas";
import { queueName } from "@pawl/platform/queue/queue";
import { percentile } from "./report.ts";
import { chainOf, mapOf } from "./shapes.ts";
import { STEP } from "./steps.ts";
import type { BenchParts } from "./throughput.ts";

const JOBS = 100_000;
/** Some are done before the last ones are queued. */
const RUNS = 130;
const WIDTH = 1_000;
const SAMPLES = 40;
const FILL_MS_MAX = 60_000;
const SAMPLE_MS_MAX = 20_000;
const TICKS_MORE_MAX = 1;
const [LOW, URGENT] = ["backlog-low", "backlog-urgent"];

/** One urgent run of one step. */
interface Sampled {
  /** How long its caller waits, in milliseconds. */
  readonly wholeMs: number;
  /** How long its step was queued. */
  readonly waitMs: number;
  readonly ticks: number;
}

export async function priority({ stack, report }: Pick<BenchParts, "stack" | "report">) {
  const { client } = stack;
  await client.apply(LOW, mapOf(WIDTH, WIDTH));
  await client.apply(URGENT, chainOf(1));
  const empty = await sample(stack);
  const low = await Promise.all(
    Array.from({ length: RUNS }, () => client.start(LOW, { priority: 100 })),
  );
  const waiting = await fill(stack);
  const full = await sample(stack);
  const left = await depth(stack);
  await Promise.all(low.map((runId) => client.cancel(runId)));
  const bench = "backlog";
  const add = (metric: string, samples: readonly Sampled[], key: "wholeMs" | "waitMs"): void => {
    for (const share of [0.5, 0.99]) {
      const value = at(samples, key, share);
      report.add({ bench, metric: `${metric}, p${share * 100}`, value, unit: "ms" });
    }
  };
  const behind = `${waiting.toLocaleString("en")}…${left.toLocaleString("en")} less urgent jobs`;
  add("urgent run with an empty queue", empty, "wholeMs");
  add(`urgent run, ${behind}`, full, "wholeMs");
  add("urgent job in the queue of an empty system", empty, "waitMs");
  add(`urgent job in the queue, ${behind}`, full, "waitMs");
  const more = at(full, "ticks", 0.99) - at(empty, "ticks", 0.99);
  report.add({
    bench,
    metric: `${full.length} urgent jobs waited longer by, p99`,
    value: more,
    unit: "ticks",
    floor: `≤ ${TICKS_MORE_MAX}`,
    reached: waiting >= JOBS && full.length > 0 && more <= TICKS_MORE_MAX,
  });
}

const at = (samples: readonly Sampled[], key: keyof Sampled, share: number): number =>
  percentile(
    samples.map((each) => each[key]),
    share,
  );

async function depth({ db }: BenchParts["stack"]): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::integer as count from ${DEFAULT_SCHEMAS.queue}.job where name = '${queueName(STEP)}' and state = 'created'`,
  );
  return rows[0]?.count ?? 0;
}

/** Until enough wait, or it takes too long. */
async function fill(stack: BenchParts["stack"]): Promise<number> {
  const until = Date.now() + FILL_MS_MAX;
  for (;;) {
    const waiting = await depth(stack);
    if (waiting >= JOBS || Date.now() > until) return waiting;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Urgent runs one after the other. */
async function sample({ client, db }: BenchParts["stack"]): Promise<Sampled[]> {
  const until = Date.now() + SAMPLE_MS_MAX;
  const times = new Map<string, number>();
  while (times.size < SAMPLES && Date.now() < until) {
    const began = performance.now();
    const runId = await client.start(URGENT, { priority: -100 });
    await client.finish(runId);
    times.set(runId, performance.now() - began);
  }
  // A tick is a transaction, and all its events have the same time.
  const { rows } = await db.query<{ runId: string; waitMs: number; ticks: number }>(
    `with own as (
       select run_id, min(at) filter (where type = 'node.queued') as queued_at,
         min(at) filter (where type = 'node.started') as started_at
       from pawl.run_events
       where run_id = any ($1::uuid[]) and node_id = 'n1'
       group by run_id
     ), ticks as materialized (
       select distinct at from pawl.run_events where at >= (select min(queued_at) from own)
     )
     select run_id as "runId", extract(epoch from started_at - queued_at)::float8 * 1000 as "waitMs",
       (select count(*) from ticks t where t.at > queued_at and t.at <= started_at)::integer as ticks
     from own`,
    [[...times.keys()]],
  );
  return rows.map(({ runId, ...row }) => ({ ...row, wholeMs: times.get(runId) ?? Number.NaN }));
}
