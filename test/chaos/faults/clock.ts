// F36: the wall clock of a service is set an hour ahead or back, and corrected a while later.
import { until } from "../../support/until.ts";
import { oneOf, type Fault } from "../fault.ts";

const HOUR_MS = 3_600_000;
/** Longer than a lease and several sweeps. */
const WRONG_MS = 4_000;

export const steppedClocks: Fault = {
  id: "F36",
  title: "wall clock of a service set by an hour",
  hits: { short: 2, smoke: 4, full: 30 },
  gapMs: [300, 1_500],
  strike: async ({ cluster, random }, nth) => {
    // Schedulers most often: they plan. Ahead and back in turns.
    const group =
      [cluster.schedulers, cluster.schedulers, cluster.executors, cluster.gateways][nth % 4] ?? [];
    const target = oneOf(group, random);
    const offMs = nth % 2 === 0 ? -HOUR_MS : HOUR_MS;
    const at = Date.now();
    await target.clock.step(offMs, target);
    await until(() => Date.now() - at > WRONG_MS, { what: "the clock to be wrong for a while" });
    await target.clock.step(0, target);
    const detail = `${offMs / HOUR_MS} h`;
    return { target: target.name, detail, isObserved: true, at, overAt: Date.now() };
  },
};
