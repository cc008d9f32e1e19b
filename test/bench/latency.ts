// Latency: one run at a time on an idle system, from submission until the client holds the terminal event.

import type { BenchClient } from "./client.ts";
import { commitTime } from "./limit.ts";
import { median, percentile } from "./report.ts";
import { chainOf } from "./shapes.ts";
import type { BenchParts } from "./throughput.ts";

const RUNS = 200;
/** Of each, unmeasured: a run of a stack that has just begun took twice as long after twenty of them. */
const WARM_UP_RUNS = 300;
const CHAIN_LENGTH = 10;
const FLOOR_SINGLE = 10;
const FLOOR_HOP = 4;

/** Milliseconds of each of many runs, one after the other. */
export async function timesOf(client: BenchClient, workflowId: string): Promise<number[]> {
  for (let warm = 0; warm < WARM_UP_RUNS; warm++) await client.run(workflowId);
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
