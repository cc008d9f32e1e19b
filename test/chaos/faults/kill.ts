// F2: any service is killed without a word, and started again.
import { oneOf, type Fault } from "../fault.ts";

export const randomKill: Fault = {
  id: "F2",
  title: "kill -9 of any service",
  hits: { short: 3, smoke: 4, full: 100 },
  gapMs: [300, 1_500],
  strike: async ({ crew, random }, nth) => {
    // Each service in turn, so that few hits strike all kinds.
    const group = [crew.executors, crew.schedulers, crew.gateways][nth % 3] ?? [];
    const target = oneOf(group, random);
    const at = Date.now();
    await target.kill("SIGKILL");
    const end = await target.exited();
    const overAt = Date.now();
    await target.restart();
    return { target: target.name, detail: end, isObserved: end === "SIGKILL", at, overAt };
  },
};
