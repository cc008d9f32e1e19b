// The widest map that is allowed, against a static fan in the same run: ten thousand iterations of a step.

import { LIMITS } from "@pawl/core/data/limits";
import { peakMib } from "./cost.ts";
import { median } from "./report.ts";
import { mapOf } from "./shapes.ts";
import { FAN, rateOf, runLoad, type BenchParts, type Load } from "./throughput.ts";

const FLOOR_FAN = 0.8;
const PEAK_MIB_MAX = 400;
const PARALLELISM = 500;
const SMALL = 100;

const mapLoad = (bench: string, width: number, runCount: number, atATime: number): Load => ({
  bench,
  definition: mapOf(width, PARALLELISM),
  stepCount: width,
  runCount,
  atATime,
  hasFloor: false,
});

export const WIDE = mapLoad("map-wide", LIMITS.scopeWidth, 1, 1);
export const NARROW = mapLoad("map-small", SMALL, 20, 4);

export async function map({ stack, report, rounds }: BenchParts): Promise<void> {
  for (const load of [FAN, WIDE, NARROW]) {
    await stack.client.apply(load.bench, load.definition);
    await runLoad(stack, load);
  }
  const rates: Record<string, number[]> = {};
  // In turns, so that a machine that gets slower does so for all.
  for (let round = 0; round < rounds; round++)
    for (const load of [FAN, WIDE, NARROW])
      (rates[load.bench] ??= []).push(await rateOf(stack, load, 1));
  const rate = (load: Load): number => median(rates[load.bench] ?? []);
  const add = (metric: string, load: Load, more: object = {}): void =>
    report.add({ bench: "map", metric, value: rate(load), unit: "steps/s", ...more });
  add("static fan of 50", FAN);
  const ratio = rate(WIDE) / rate(FAN);
  add(`map of ${LIMITS.scopeWidth} (of the fan)`, WIDE, {
    ratio,
    floor: `≥ ${FLOOR_FAN} ×`,
    reached: ratio >= FLOOR_FAN,
  });
  add(`map of ${SMALL} (of the fan)`, NARROW, { ratio: rate(NARROW) / rate(FAN) });
  const value = peakMib(stack.pids["scheduler"] ?? 0);
  report.add({
    bench: "map",
    metric: "peak memory of scheduler",
    value,
    unit: "MiB",
    floor: `< ${PEAK_MIB_MAX} MiB`,
    reached: value < PEAK_MIB_MAX,
  });
}
