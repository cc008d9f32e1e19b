// The promises of a store about samples of the system.

import { randomUUID } from "node:crypto";
import type {
  NewestStats,
  PointQuestion,
  PoolLoad,
  Sample,
  StatPoint,
  Stats,
} from "@pawl/platform/store/stats/stats";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";

export interface StatsUnderTest extends Stats {
  newest(): Promise<NewestStats | undefined>;
  points(asked: PointQuestion): Promise<readonly StatPoint[]>;
  /** Deletes everything. */
  empty(): Promise<void>;
}

/** Longer than a test, so all of a test is in one interval unless the test asks for another. */
const DAY_MS = 24 * 3_600_000;
/** So short that every call is in an interval of its own. */
const NEXT_MS = 1;

const LOAD = { slots: 8, active: 3, waiting: 2, oldestMs: 900, medianMs: 400 };
const RUNS = { runsPending: 1, runsRunning: 5, pendingOldestMs: 70, pendingMedianMs: 60 };
const http = { nodeType: "http", ...LOAD };
const sampleOf = (over: Partial<Sample["total"]> = {}): Sample => ({
  total: { ...LOAD, ...RUNS, ...over },
  types: [
    { ...http, waiting: over.waiting ?? 2 },
    { ...http, nodeType: "acme.price" },
  ],
});
const POOL: PoolLoad = { kind: "connections", pool: "reads", size: 5, inUse: 1, idle: 2 };

/** Waits until the clock shows another millisecond, by a busy loop of calls. */
async function nextMoment(stats: Stats): Promise<void> {
  while (!(await stats.due(NEXT_MS)).isMissing);
}

export function statsSuite(name: string, open: () => Promise<StatsUnderTest>): void {
  describe(`samples on ${name}`, () => {
    let stats: StatsUnderTest;
    beforeAll(async () => {
      stats = await open();
    });
    beforeEach(() => stats.empty());
    const under = () => stats;
    sampleTests(under);
    poolTests(under);
  });
}

function sampleTests(under: () => StatsUnderTest): void {
  test("a sample is kept once for each interval, whole, of several that are taken at once (S4.34)", async () => {
    const stats = under();
    expect(await stats.newest()).toBeUndefined();
    const due = await stats.due(DAY_MS);
    expect(due.isMissing).toBe(true);
    expect(due.nextInMs).toBeGreaterThan(0);
    expect(due.nextInMs).toBeLessThanOrEqual(DAY_MS);
    const first = sampleOf();
    const second: Sample = { ...sampleOf({ waiting: 9 }), types: [{ ...http, nodeType: "llm" }] };
    const kept = await Promise.all([stats.put(DAY_MS, first), stats.put(DAY_MS, second)]);
    expect(kept.filter(Boolean)).toHaveLength(1);
    expect(await stats.due(DAY_MS)).toMatchObject({ isMissing: false });
    const { total, types } = kept[0] ? first : second;
    const byName = types.toSorted((a, b) => (a.nodeType < b.nodeType ? -1 : 1));
    expect(await stats.newest()).toMatchObject({ total, types: byName, pools: [] });
  });

  test("points are the largest numbers of their step, and a type has points of its own", async () => {
    const stats = under();
    for (const waiting of [4, 7, 1]) {
      expect(await stats.put(NEXT_MS, sampleOf({ waiting, oldestMs: null, medianMs: null }))).toBe(
        true,
      );
      await nextMoment(stats);
    }
    const asked = { rangeMs: 3_600_000, stepMs: DAY_MS };
    const [point, ...others] = await stats.points({ ...asked, nodeType: "" });
    expect(others).toEqual([]);
    expect(point).toMatchObject({ waiting: 7, ...RUNS, slots: 8, oldestMs: null });
    expect(await stats.points({ ...asked, nodeType: "http" })).toMatchObject([
      { waiting: 7, oldestMs: 900, runsPending: null, connections: 0 },
    ]);
    expect(await stats.points({ ...asked, nodeType: "none" })).toEqual([]);
    const each = await stats.points({ nodeType: "", rangeMs: 3_600_000, stepMs: NEXT_MS });
    expect(each.map(({ waiting }) => waiting)).toEqual([4, 7, 1]);
  });
}

function poolTests(under: () => StatsUnderTest): void {
  test("pools of processes are kept once for each interval, and a process that fell silent is left out (S4.34)", async () => {
    const stats = under();
    const [gone, scheduler, gateway] = [randomUUID(), randomUUID(), randomUUID()];
    const put = (
      processId: string,
      service: "scheduler" | "gateway",
      pools = [POOL],
      ms = NEXT_MS,
    ) => stats.putPools(ms, { processId, service }, pools);
    await put(gone, "gateway");
    for (let n = 0; n < 3; n += 1) {
      await nextMoment(stats);
      await stats.put(NEXT_MS, sampleOf());
    }
    await put(scheduler, "scheduler", [{ ...POOL, inUse: 2 }]);
    const streams: PoolLoad = { ...POOL, kind: "streams", pool: "commands", size: 4 };
    await put(gateway, "gateway", [POOL, streams]);
    expect((await stats.newest())?.pools).toEqual(
      [
        {
          ...POOL,
          processId: gateway,
          service: "gateway",
          pool: "commands",
          kind: "streams",
          size: 4,
        },
        { ...POOL, processId: gateway, service: "gateway" },
        { ...POOL, processId: scheduler, service: "scheduler", inUse: 2 },
      ].toSorted((a, b) =>
        a.service === b.service ? (a.pool < b.pool ? -1 : 1) : a.service < b.service ? -1 : 1,
      ),
    );
  });

  test("connections of all processes are summed in an interval, and a repeated report changes nothing", async () => {
    const stats = under();
    await stats.put(DAY_MS, sampleOf());
    const processId = randomUUID();
    for (const inUse of [1, 5])
      await stats.putPools(DAY_MS, { processId, service: "gateway" }, [{ ...POOL, inUse }]);
    await stats.putPools(DAY_MS, { processId: randomUUID(), service: "scheduler" }, [
      POOL,
      { ...POOL, kind: "streams", pool: "executors" },
    ]);
    // The interval began up to a day ago.
    const asked = { nodeType: "", rangeMs: 2 * DAY_MS, stepMs: DAY_MS };
    expect(await stats.points(asked)).toMatchObject([{ connections: 10, connectionsInUse: 2 }]);
  });

  test("old samples are deleted in bounded steps, and young ones stay", async () => {
    const stats = under();
    for (let n = 0; n < 3; n += 1) {
      await stats.put(NEXT_MS, { ...sampleOf(), types: [] });
      await nextMoment(stats);
    }
    expect(await stats.forget(DAY_MS, 100)).toBe(false);
    expect(await stats.newest()).toBeDefined();
    expect(await stats.forget(0, 3)).toBe(true);
    expect(await stats.forget(0, 3)).toBe(false);
    expect(await stats.newest()).toBeUndefined();
  });
}
