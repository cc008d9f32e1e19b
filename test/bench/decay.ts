// The stack must not get slower as the log grows. The bench compares throughput and latency of a stack with 500,000 events in its log and
// of a young stack with a few thousand. It loads the two by turns, because a shared machine changes its speed while a log grows.

import { timesOf } from "./latency.ts";
import { median, percentile } from "./report.ts";
import { chainOf } from "./shapes.ts";
import { startStack, type Stack } from "./stack.ts";
import { type BenchParts, CHAIN, rateOf, runLoad } from "./throughput.ts";

const EVENTS_LATER = 500_000;
const KEPT_MIN = 0.9;
const LOAD = { ...CHAIN, bench: "decay" };
const SINGLE = "decay-single";
const WARM_UP_ROUNDS = 8;

interface Speed {
  readonly rate: number;
  readonly singleMs: number;
}

export async function decay({ stack, report, rounds }: BenchParts): Promise<void> {
  await prepare(stack);
  while ((await eventCount(stack.db)) < EVENTS_LATER)
    await runLoad(stack, { ...LOAD, runCount: 1_000, atATime: 64 });
  const young = await startStack();
  await young.serveSteps();
  await prepare(young);
  const early: Speed[] = [];
  const late: Speed[] = [];
  const events = { early: await eventCount(young.db), late: await eventCount(stack.db) };
  for (let round = 0; round < rounds; round++) {
    early.push(await speedOf(young));
    late.push(await speedOf(stack));
  }
  await young.stop();
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
  const ratioOf = (compare: (early: Speed, late: Speed) => number): number =>
    median(early.map((speed, round) => compare(speed, late[round] ?? speed)));
  report.add({ bench, metric: "events of the young log", value: events.early, unit: "events" });
  report.add({ bench, metric: "events of the old log", value: events.late, unit: "events" });
  kept(
    "chain, old (of young)",
    ratioOf((before, after) => after.rate / before.rate),
    median(late.map(({ rate }) => rate)),
    "steps/s",
  );
  kept(
    "speed of a single run, old (of young)",
    ratioOf((before, after) => before.singleMs / after.singleMs),
    median(late.map(({ singleMs }) => singleMs)),
    "ms",
  );
}

async function prepare(stack: Stack): Promise<void> {
  await stack.client.apply(LOAD.bench, LOAD.definition);
  await stack.client.apply(SINGLE, chainOf(1));
  for (let round = 0; round < WARM_UP_ROUNDS; round++)
    await runLoad(stack, { ...LOAD, runCount: 100 });
}

const speedOf = async (stack: Stack): Promise<Speed> => ({
  rate: await rateOf(stack, LOAD, 1),
  singleMs: percentile(await timesOf(stack.client, SINGLE), 0.5),
});

async function eventCount(db: BenchParts["stack"]["db"]): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    "select sum(last_seq)::float8 as n from pawl.runs",
  );
  return rows[0]?.n ?? 0;
}
