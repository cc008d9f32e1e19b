// Samples in memory.

import type { NewestStats, PointQuestion, ProcessPool, Sample, StatPoint, Stats } from "./stats.ts";

interface KeptPool extends ProcessPool {
  readonly takenAt: number;
}

interface MemoryStats extends Stats {
  newest(): Promise<NewestStats | undefined>;
  points(asked: PointQuestion): Promise<readonly StatPoint[]>;
}

export function createMemoryStats(now: () => number): MemoryStats {
  const samples = new Map<number, Sample>();
  const pools = new Map<string, KeptPool>();
  const beginOf = (time: number, ms: number): number => Math.floor(time / ms) * ms;
  const times = (): number[] => [...samples.keys()].toSorted((a, b) => b - a);
  return {
    due: async (intervalMs) => {
      const began = beginOf(now(), intervalMs);
      return { isMissing: !samples.has(began), nextInMs: began + intervalMs - now() };
    },
    put: async (intervalMs, sample) => {
      const began = beginOf(now(), intervalMs);
      if (samples.has(began)) return false;
      samples.set(began, sample);
      return true;
    },
    putPools: async (intervalMs, process, reported) => {
      const takenAt = beginOf(now(), intervalMs);
      for (const pool of reported) {
        const key = `${takenAt} ${process.processId} ${pool.pool}`;
        if (!pools.has(key)) pools.set(key, { ...process, ...pool, takenAt });
      }
    },
    forget: async (olderThanMs, limit) => {
      const before = now() - olderThanMs;
      const old = times().filter((time) => time < before);
      for (const time of old) samples.delete(time);
      const oldPools = [...pools].filter(([, { takenAt }]) => takenAt < before);
      for (const [key] of oldPools) pools.delete(key);
      return Math.max(old.length, oldPools.length) === limit;
    },
    newest: async () => {
      const [takenAt, before = takenAt] = times();
      const sample = takenAt === undefined ? undefined : samples.get(takenAt);
      if (takenAt === undefined || before === undefined || sample === undefined) return undefined;
      const types = sample.types.toSorted((a, b) => (a.nodeType < b.nodeType ? -1 : 1));
      return { takenAt, ...sample, types, pools: newestPools([...pools.values()], before) };
    },
    points: async ({ nodeType, rangeMs, stepMs }) => {
      const steps = new Map<number, Load[]>();
      for (const [time, sample] of samples) {
        const load = loadOf(sample, nodeType);
        const at = beginOf(time, stepMs);
        if (time > now() - rangeMs && load !== undefined)
          steps.set(at, [...(steps.get(at) ?? []), load]);
      }
      const of = (at: number): KeptPool[] =>
        [...pools.values()].filter(
          (pool) => beginOf(pool.takenAt, stepMs) === at && nodeType === "",
        );
      return [...steps]
        .toSorted(([a], [b]) => a - b)
        .map(([at, loads]) => ({ at, ...largest(loads), ...connectionsOf(of(at)) }));
    },
  };
}

type Load = Omit<StatPoint, "at" | "connections" | "connectionsInUse">;

const NO_RUNS = {
  runsPending: null,
  runsRunning: null,
  pendingOldestMs: null,
  pendingMedianMs: null,
};

function loadOf({ total, types }: Sample, nodeType: string): Load | undefined {
  if (nodeType === "") return total;
  const found = types.find((type) => type.nodeType === nodeType);
  if (found === undefined) return undefined;
  const { nodeType: _nodeType, ...load } = found;
  return { ...load, ...NO_RUNS };
}

function largest(loads: readonly Load[]): Load {
  const names = Object.keys(loads[0] ?? {}) as (keyof Load)[];
  const of = (name: keyof Load): number | null =>
    loads.reduce<number | null>((max, load) => {
      const value = load[name];
      return value === null || (max !== null && max > value) ? max : value;
    }, null);
  // The entries are those of a load.
  return Object.fromEntries(names.map((name) => [name, of(name)])) as unknown as Load;
}

function connectionsOf(pools: readonly KeptPool[]) {
  const sums = Map.groupBy(
    pools.filter(({ kind }) => kind === "connections"),
    ({ takenAt }) => takenAt,
  );
  const most = (name: "size" | "inUse"): number =>
    Math.max(0, ...[...sums.values()].map((all) => all.reduce((sum, each) => sum + each[name], 0)));
  return { connections: most("size"), connectionsInUse: most("inUse") };
}

function newestPools(pools: readonly KeptPool[], since: number): ProcessPool[] {
  const byKey = new Map<string, KeptPool>();
  for (const pool of pools.toSorted((a, b) => a.takenAt - b.takenAt))
    if (pool.takenAt >= since) byKey.set(`${pool.service} ${pool.processId} ${pool.pool}`, pool);
  return [...byKey]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { takenAt: _takenAt, ...pool }]) => pool);
}
