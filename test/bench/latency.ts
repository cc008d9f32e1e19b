// Latency: one run at a time on an idle system, from submission until the client holds the terminal event.

import type { BenchClient } from "./client.ts";
import { commitTime } from "./limit.ts";
import { median, percentile } from "./report.ts";
import { chainOf } from "./shapes.ts";
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

export const latency = (parts: BenchParts) => latencyOf(parts, "latency", { hasFloor: true });

interface Round {
  readonly commitMs: number;
  readonly single: readonly number[];
  readonly chain: readonly number[];
}

export async function latencyOf(
  { stack, report, rounds: count }: BenchParts,
  bench: string,
  { hasFloor }: { readonly hasFloor: boolean },
): Promise<void> {
  const { client } = stack;
  await client.apply("latency-single", chainOf(1));
  await client.apply("latency-chain", chainOf(CHAIN_LENGTH));
  for (const workflowId of ["latency-chain", "latency-single"])
    await repeat(client, workflowId, SETTLING_RUNS);
  const rounds: Round[] = [];
  for (let round = 0; round < count; round++) {
    const commits = [await commitTime(stack)];
    const single = await timesOf(client, "latency-single");
    commits.push(await commitTime(stack));
    const chain = await timesOf(client, "latency-chain");
    commits.push(await commitTime(stack));
    rounds.push({ commitMs: median(commits), single, chain });
  }
  const of = (figure: (round: Round) => number): number => median(rounds.map(figure));
  const addRatio = (metric: string, figure: (round: Round) => number, times: number): void => {
    const ratio = of((round) => figure(round) / round.commitMs);
    const floor = hasFloor ? { floor: `≤ ${times} ×`, reached: ratio <= times } : {};
    report.add({ bench, metric, value: of(figure), unit: "ms", ratio, ...floor });
  };
  const add = (metric: string, figure: (round: Round) => number): void =>
    report.add({ bench, metric, value: of(figure), unit: "ms" });
  addRatio("single run p50 (of a commit)", ({ single }) => percentile(single, 0.5), FLOOR_SINGLE);
  add("single run p99", ({ single }) => percentile(single, 0.99));
  // What a chain takes beyond a single run is its further hops.
  const hop = ({ single, chain }: Round): number =>
    (percentile(chain, 0.5) - percentile(single, 0.5)) / (CHAIN_LENGTH - 1);
  addRatio("per hop p50 (of a commit)", hop, FLOOR_HOP);
  add("chain p50", ({ chain }) => percentile(chain, 0.5));
  add("chain p99", ({ chain }) => percentile(chain, 0.99));
}
