// F2: a service of any kind is killed with SIGKILL and started again.
import type { ChaosMember } from "../chaos-cluster.ts";
import { oneOf, type Fault, type Hit } from "../fault.ts";

export const randomKill: Fault = {
  id: "F2",
  title: "kill -9 of any service",
  hits: { short: 3, smoke: 4, full: 100 },
  gapMs: [300, 1_500],
  strike: async ({ cluster, random }, nth) => {
    // Each service in turn, so that few hits strike all kinds.
    const group = [cluster.executors, cluster.schedulers, cluster.gateways][nth % 3] ?? [];
    return await killAndRestart(oneOf(group, random));
  },
};

/** Kills a service and starts it again. */
export async function killAndRestart(target: ChaosMember): Promise<Hit> {
  const at = Date.now();
  await target.kill("SIGKILL");
  const end = await target.exited();
  const overAt = Date.now();
  await target.restart();
  return { target: target.name, detail: end, isObserved: end === "SIGKILL", at, overAt };
}
