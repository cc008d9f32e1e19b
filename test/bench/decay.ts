// Nothing may get slower as the log grows: throughput and latency near the start of a log, and again after 500,000 events.

import { timesOf } from "./latency.ts";
import { percentile } from "./report.ts";
import { chainOf } from "./shapes.ts";
import { type BenchParts, CHAIN, rateOf, runLoad } from "./throughput.ts";

const EVENTS_LATER = 500_000;
const KEPT_MIN = 0.9;

export async function decay({ stack, report, rounds }: BenchParts): Promise<void> {
  const load = { ...CHAIN, bench: "decay" };
  await stack.client.apply(load.bench, load.definition);
  await stack.client.apply("decay-single", chainOf(1));
  await runLoad(stack, load);
  const measure = async () => ({
    events: await eventCount(stack.db),
    rate: await rateOf(stack, load, rounds),
    single: percentile(await timesOf(stack.client, "decay-single"), 0.5),
  });
  const early = await measure();
  while ((await eventCount(stack.db)) < EVENTS_LATER)
    await runLoad(stack, { ...load, runCount: 1_000, atATime: 64 });
  const late = await measure();
  const bench = "decay";
  const kept = (metric: string, ratio: number, value: number, unit: string): void =>
    report.add({
      bench,
      metric,
      value,
      unit,
      ratio,
      floor: `≥ ${KEPT_MIN} ×`,
      reached: ratio >= KEPT_MIN,
    });
  report.add({ bench, metric: "events early", value: early.events, unit: "events" });
  report.add({ bench, metric: "events late", value: late.events, unit: "events" });
  kept("chain, late (of early)", late.rate / early.rate, late.rate, "nodes/s");
  kept("speed of a single run, late (of early)", early.single / late.single, late.single, "ms");
}

async function eventCount(db: BenchParts["stack"]["db"]): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    "select sum(last_seq)::float8 as n from pawl.runs",
  );
  return rows[0]?.n ?? 0;
}
