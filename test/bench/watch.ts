// `npm run bench -- watch`: 2,000 watchers over 200 live runs at one gateway. The watchers are the published client in processes of
// their own. A missed limit makes the bench fail.

import { progress } from "./report.ts";
import type { BenchParts } from "./throughput.ts";
import { watchLoad } from "./watch-load.ts";

const WATCHERS = 2_000;
const STALLED = 100;
/** A megabyte is a million bytes. */
const RSS_MAX_MB = 400;
const STALLED_MAX_MB = 64;
const WHOLE_MAX_MS = 10_000;

export async function watch({ stack, report }: BenchParts): Promise<void> {
  const figures = await watchLoad({
    url: stack.url,
    gateway: stack.gateway,
    watchers: WATCHERS,
    runs: 200,
    processes: 4,
    pieces: 240,
    intervalMs: 500,
    stalled: STALLED,
    loudRuns: 5,
    loudNodes: 30,
    stallMs: 6_000,
    steadyMs: 20_000,
    progress,
  });
  const add = (metric: string, value: number, unit: string, floor?: string, reached?: boolean) =>
    report.add({
      ...{ bench: "watch", metric, value, unit },
      ...(floor === undefined ? {} : { floor, reached: reached ?? false, isLimit: true }),
    });
  const { complete, delivered, p50Ms, p99Ms, peakMb, heldMb, wholeMs } = figures;
  const { stalledMb, stalledHeldMb, cutOff, loadAverage } = figures;
  add("load average", loadAverage, "processes");
  add("watchers with every event", complete, "watchers", `= ${WATCHERS}`, complete === WATCHERS);
  add("events delivered", delivered, "events");
  add("delivery p50", p50Ms, "ms");
  add("delivery p99", p99Ms, "ms");
  add("gateway RSS, most", peakMb, "MB", `≤ ${RSS_MAX_MB}`, peakMb <= RSS_MAX_MB);
  add("gateway RSS after a collection", heldMb, "MB");
  add("whole after kill", wholeMs, "ms", `≤ ${WHOLE_MAX_MS}`, wholeMs <= WHOLE_MAX_MS);
  const isSmall = stalledMb <= STALLED_MAX_MB;
  add("RSS of stalled readers", stalledMb, "MB", `≤ ${STALLED_MAX_MB}`, isSmall);
  add("objects of stalled readers", stalledHeldMb, "MB");
  add("cut off with a cursor", cutOff, "readers", `= ${STALLED}`, cutOff === STALLED);
}
