// Latency: one run at a time on an idle system, from submission until the client holds the terminal event.

import type { BenchClient } from "./client.ts";
import { commitTime } from "./limit.ts";
import { mean, median, percentile } from "./report.ts";
import { chainOf, glueOf } from "./shapes.ts";
import type { BenchParts } from "./throughput.ts";

const RUNS = 200;
/** Of each, unmeasured, before each round. */
const WARM_UP_RUNS = 100;
/**
 * Of each, unmeasured, once: a stack that has just begun takes twice as long after twenty runs, and still a quarter longer after five
 * hundred, until just-in-time code is made in all of its processes.
 */
const SETTLING_RUNS = 1_200;
const CHAIN_LENGTH = 10;
const FLOOR_SINGLE = 10;
const FLOOR_HOP = 4;
const [SINGLE, CHAIN, GLUE] = ["latency-single", "latency-chain", "glue"];

/** So many runs, one after the other. */
async function repeat(client: BenchClient, workflowId: string, count: number): Promise<void> {
  for (let run = 0; run < count; run++) await client.run(workflowId);
}

/** Milliseconds of each of many runs, one after the other. */
export async function timesOf(client: BenchClient, workflowId: string): Promise<number[]> {
  await repeat(client, workflowId, WARM_UP_RUNS);
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const began = performance.now();
    await client.run(workflowId);
    times.push(performance.now() - began);
  }
  return times;
}

export async function prepareLatency(client: BenchClient): Promise<void> {
  await client.apply(SINGLE, chainOf(1));
  await client.apply(CHAIN, chainOf(CHAIN_LENGTH));
  for (const workflowId of [CHAIN, SINGLE]) await repeat(client, workflowId, SETTLING_RUNS);
}

/** The times of runs of one step and of ten. */
export interface Times {
  readonly single: readonly number[];
  readonly chain: readonly number[];
}

export const measureLatency = async (client: BenchClient): Promise<Times> => ({
  single: await timesOf(client, SINGLE),
  chain: await timesOf(client, CHAIN),
});

/** The extra time of a chain over a single run is the time of its further hops. */
export const hopOf = ({ single, chain }: Times): number =>
  (percentile(chain, 0.5) - percentile(single, 0.5)) / (CHAIN_LENGTH - 1);

export async function latency({ stack, report, rounds: count }: BenchParts): Promise<void> {
  const bench = "latency";
  await prepareLatency(stack.client);
  const rounds: (Times & { readonly commitMs: number })[] = [];
  for (let round = 0; round < count; round++) {
    const before = await commitTime(stack);
    const times = await measureLatency(stack.client);
    rounds.push({ ...times, commitMs: mean([before, await commitTime(stack)]) });
  }
  const of = (figure: (round: (typeof rounds)[number]) => number): number =>
    median(rounds.map(figure));
  const add = (metric: string, figure: (times: Times) => number, more: object = {}): void =>
    report.add({ bench, metric, value: of(figure), unit: "ms", ...more });
  const addRatio = (metric: string, figure: (times: Times) => number, most: number): void => {
    const ratio = of((round) => figure(round) / round.commitMs);
    add(metric, figure, { ratio, floor: `≤ ${most} ×`, reached: ratio <= most });
  };
  addRatio("single run p50 (of a commit)", ({ single }) => percentile(single, 0.5), FLOOR_SINGLE);
  add("single run p99", ({ single }) => percentile(single, 0.99));
  addRatio("per hop p50 (of a commit)", hopOf, FLOOR_HOP);
  add("chain p50", ({ chain }) => percentile(chain, 0.5));
  add("chain p99", ({ chain }) => percentile(chain, 0.99));
}

export async function prepareGlue(client: BenchClient): Promise<void> {
  await client.apply(GLUE, glueOf());
  await repeat(client, GLUE, SETTLING_RUNS);
}

export const measureGlue = (client: BenchClient): Promise<number[]> => timesOf(client, GLUE);

/** A workflow as small ones are: two steps, and a condition between them. */
export async function glue({ stack, report, rounds: count }: BenchParts): Promise<void> {
  await prepareGlue(stack.client);
  const rounds: number[][] = [];
  for (let round = 0; round < count; round++) rounds.push(await measureGlue(stack.client));
  const add = (metric: string, figure: (times: readonly number[]) => number): void =>
    report.add({ bench: "glue", metric, value: median(rounds.map(figure)), unit: "ms" });
  add("run p50", (times) => percentile(times, 0.5));
  add("run mean", mean);
  add("run p99", (times) => percentile(times, 0.99));
}
