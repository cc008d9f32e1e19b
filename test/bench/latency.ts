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

export async function latencyOf(
  { stack, report }: BenchParts,
  bench: string,
  { hasFloor }: { readonly hasFloor: boolean },
): Promise<void> {
  const { client } = stack;
  await client.apply("latency-single", chainOf(1));
  await client.apply("latency-chain", chainOf(CHAIN_LENGTH));
  const commits = [await commitTime(stack)];
  const single = await timesOf(client, "latency-single");
  commits.push(await commitTime(stack));
  const chain = await timesOf(client, "latency-chain");
  commits.push(await commitTime(stack));
  const commitMs = median(commits);
  const floorOf = (value: number, times: number): object =>
    hasFloor ? { floor: `≤ ${times} ×`, reached: value <= times * commitMs } : {};
  const singleP50 = percentile(single, 0.5);
  report.add({
    bench,
    metric: "single run p50 (of a commit)",
    value: singleP50,
    unit: "ms",
    ratio: singleP50 / commitMs,
    ...floorOf(singleP50, FLOOR_SINGLE),
  });
  report.add({ bench, metric: "single run p99", value: percentile(single, 0.99), unit: "ms" });
  // What a chain takes beyond a single run is its further hops.
  const hop = (percentile(chain, 0.5) - singleP50) / (CHAIN_LENGTH - 1);
  report.add({
    bench,
    metric: "per hop p50 (of a commit)",
    value: hop,
    unit: "ms",
    ratio: hop / commitMs,
    ...floorOf(hop, FLOOR_HOP),
  });
  report.add({ bench, metric: "chain p50", value: percentile(chain, 0.5), unit: "ms" });
  report.add({ bench, metric: "chain p99", value: percentile(chain, 0.99), unit: "ms" });
}
