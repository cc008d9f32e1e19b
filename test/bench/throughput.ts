// Throughput: many runs at a time through the whole trio, against the ceilings of the same database.

import { costOf, residentMib } from "./cost.ts";
import type { Ceilings } from "./limit.ts";
import { median, progress, type Report } from "./report.ts";
import { chainOf, fanOf } from "./shapes.ts";
import type { Stack } from "./stack.ts";

/** What throughput is measured on. */
export interface BenchParts {
  readonly stack: Stack;
  readonly ceilings: Ceilings;
  readonly report: Report;
  readonly rounds: number;
}

export interface Load {
  readonly bench: string;
  readonly definition: object;
  /** Steps of one run. */
  readonly stepCount: number;
  readonly runCount: number;
  readonly atATime: number;
  readonly hasFloor: boolean;
}

const FLOOR_HAND_OFF = 0.4;
const FLOOR_PG_BOSS = 1.8;
const RSS_MIB_MAX = 250;
/** Just-in-time code was still being made after twenty seconds; the rates no longer grew then. */
const WARM_UP_ROUNDS = 8;
const CEILING_MS = 1_000;

export const CHAIN: Load = {
  bench: "chain",
  definition: chainOf(10),
  stepCount: 10,
  runCount: 300,
  atATime: 32,
  hasFloor: true,
};

export const SINGLE: Load = {
  bench: "single",
  definition: chainOf(1),
  stepCount: 1,
  runCount: 2_000,
  atATime: 64,
  hasFloor: false,
};
export const FAN: Load = {
  bench: "fan",
  definition: fanOf(50),
  stepCount: 52,
  runCount: 40,
  atATime: 8,
  hasFloor: true,
};

export const chain = (parts: BenchParts) => throughput(parts, CHAIN);
export const single = (parts: BenchParts) => throughput(parts, SINGLE);
export const fan = (parts: BenchParts) => throughput(parts, FAN);

/** Runs the load once. */
export async function runLoad(stack: Stack, load: Load): Promise<void> {
  let left = load.runCount;
  const worker = async (): Promise<void> => {
    while (left-- > 0) await stack.client.run(load.bench);
  };
  await Promise.all(Array.from({ length: load.atATime }, worker));
}

/** Steps per second, as the median of the rounds. */
export async function rateOf(stack: Stack, load: Load, rounds: number): Promise<number> {
  const rates: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    await runLoad(stack, load);
    rates.push((load.stepCount * load.runCount * 1_000) / (performance.now() - began));
  }
  return median(rates);
}

/** Saves the workflow and warms the stack up: plans, caches and just-in-time code settle before anything is measured. */
export async function prepareLoad(stack: Stack, load: Load): Promise<void> {
  progress(`${load.bench}: warming up`);
  await stack.client.apply(load.bench, load.definition);
  for (let round = 0; round < WARM_UP_ROUNDS; round++) await runLoad(stack, load);
}

async function throughput(parts: BenchParts, load: Load): Promise<void> {
  const { stack, ceilings, report, rounds } = parts;
  const { bench, stepCount, runCount } = load;
  await prepareLoad(stack, load);
  const costs = [];
  const handOffs: number[] = [];
  const raws: number[] = [];
  const total = stepCount * runCount;
  for (let round = 0; round < rounds; round++) {
    progress(`${bench}: round ${round + 1} of ${rounds}`);
    const handOffRate = await ceilings.handOff.measure(CEILING_MS);
    const rawRate = await ceilings.pgBoss.measure(CEILING_MS);
    // The stack had nothing to do while the ceilings were measured. A round of half a second would measure how it starts again.
    await runLoad(stack, load);
    const cost = await costOf(stack, () => runLoad(stack, load));
    costs.push(cost);
    handOffs.push(total / cost.seconds / handOffRate);
    raws.push(total / cost.seconds / rawRate);
  }
  const stepsPerSecond = median(costs.map((cost) => total / cost.seconds));
  const handOff = median(handOffs);
  const raw = median(raws);
  const add = (metric: string, value: number, unit: string, more: object = {}): void =>
    report.add({ bench, metric, value, unit, ...more });
  add("steps (of the hand-off)", stepsPerSecond, "steps/s", {
    ratio: handOff,
    ...(load.hasFloor
      ? { floor: `≥ ${FLOOR_HAND_OFF} ×`, reached: handOff >= FLOOR_HAND_OFF }
      : {}),
  });
  add("steps (of a raw pg-boss loop)", stepsPerSecond, "steps/s", {
    ratio: raw,
    ...(load.hasFloor ? { floor: `≥ ${FLOOR_PG_BOSS} ×`, reached: raw >= FLOOR_PG_BOSS } : {}),
  });
  add("runs", median(costs.map((cost) => runCount / cost.seconds)), "runs/s");
  add(
    "transactions per step",
    median(costs.map((cost) => cost.transactions / total)),
    "with reads",
  );
  add("WAL per step", median(costs.map((cost) => cost.walBytes / total)), "bytes");
  for (const name of Object.keys(stack.pids))
    add(`CPU of ${name}`, 100 * median(costs.map((cost) => cost.cpu[name] ?? 0)), "% of a core");
  for (const name of ["scheduler", "gateway"]) {
    const value = residentMib(stack.pids[name] ?? 0);
    add(`memory of ${name}`, value, "MiB", {
      floor: `< ${RSS_MIB_MAX} MiB`,
      reached: value < RSS_MIB_MAX,
    });
  }
}
