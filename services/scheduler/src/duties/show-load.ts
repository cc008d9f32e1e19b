// Shows a sample of the system in gauges and in one line of the log.

import type { Sample } from "@pawl/platform/store/stats/stats";
import { METRICS } from "@pawl/platform/telemetry/catalogue";

type Load = Omit<Sample["types"][number], "nodeType">;

const seconds = (ms: number | null): number => (ms ?? 0) / 1_000;
const available = ({ slots, active }: Load): number => Math.max(0, slots - active);

/** Queues whose median was set once. An empty queue has no row, and its gauge must fall to 0. */
const shown = new Set<string>();

/** Sets the gauges of the whole system. Every scheduler shows the same values. */
export function showLoad({ total, types }: Sample): void {
  METRICS.workerSlots.set(total.slots, { state: "max" });
  METRICS.workerSlots.set(total.active, { state: "active" });
  METRICS.workerSlots.set(available(total), { state: "available" });
  METRICS.runsLive.set(total.runsPending, { state: "pending" });
  METRICS.runsLive.set(total.runsRunning, { state: "running" });
  METRICS.runsPendingAge.set(seconds(total.pendingOldestMs), { of: "oldest" });
  METRICS.runsPendingAge.set(seconds(total.pendingMedianMs), { of: "median" });
  const medians = new Map([["", total.medianMs], ...types.map(medianOf)]);
  for (const queue of medians.keys()) shown.add(queue);
  for (const queue of shown)
    METRICS.queueMedianAge.set(seconds(medians.get(queue) ?? null), { queue });
}

const medianOf = ({ nodeType, medianMs }: Sample["types"][number]): [string, number | null] => [
  nodeType,
  medianMs,
];

/** The fields of the log line of a sample. */
export const loadFields = ({ total, types }: Sample) => ({
  workers: { max: total.slots, available: available(total), active: total.active },
  runs: {
    n_pending: total.runsPending,
    n_running: total.runsRunning,
    min_age_secs: seconds(total.pendingOldestMs),
    med_age_secs: seconds(total.pendingMedianMs),
  },
  nodes: { waiting: total.waiting, ...agesOf(total) },
  queues: Object.fromEntries(
    types.map((type) => [
      type.nodeType,
      { waiting: type.waiting, active: type.active, ...agesOf(type) },
    ]),
  ),
});

const agesOf = ({ oldestMs, medianMs }: Load) => ({
  oldest_secs: seconds(oldestMs),
  med_age_secs: seconds(medianMs),
});
