// The same chains with every claim committed before its task begins, as nodes with effects have it: the other benches run nodes that
// do nothing, which come as offers (ADR 33).

import { latencyOf } from "./latency.ts";
import { openCeilings } from "./limit.ts";
import type { Report } from "./report.ts";
import { startStack } from "./stack.ts";
import { CHAIN, FAN, throughput } from "./throughput.ts";

export async function claimed(report: Report, rounds: number): Promise<void> {
  const stack = await startStack({ PAWL_INSTANT_OFFERS: "off" });
  try {
    const ceilings = await openCeilings(stack);
    const parts = { stack, ceilings, report, rounds };
    for (const load of [CHAIN, FAN])
      await throughput(parts, { ...load, bench: `claimed-${load.bench}`, hasFloor: false });
    await latencyOf(parts, "claimed-latency", { hasFloor: false });
    await ceilings.close();
  } finally {
    await stack.stop();
  }
}
