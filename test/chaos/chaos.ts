// Runs fault after fault on one cluster, and judges each before the next begins.
import { appendFileSync } from "node:fs";
import { startChaosCluster, type ChaosCluster } from "./chaos-cluster.ts";
import { EFFECT_PREFIX, experiment, type Outcome } from "./experiment.ts";
import type { Fault, Size } from "./fault.ts";
import { saveShapes } from "./load.ts";
import { effectShapes } from "./shapes.ts";

/** How to do it. */
type ChaosOptions = {
  readonly faults: readonly Fault[];
  readonly size: Size;
  readonly seed: number;
  /** Runs of each fault, at least. */
  readonly runs: number;
  /** Where every intended and observed hit is noted, one JSON object a line. */
  readonly faultLog: string;
  readonly onProgress: (text: string) => void;
  readonly onOutcome: (outcome: Outcome) => void;
};

/** The outcomes, and the output of all services meanwhile. */
type ChaosResult = { readonly outcomes: readonly Outcome[]; readonly logs: string };

/** Does it. */
export async function chaos(options: ChaosOptions): Promise<ChaosResult> {
  const { faults, seed, faultLog, onOutcome } = options;
  const cluster = await startChaosCluster(seed);
  try {
    await saveAll(cluster, faults);
    const outcomes: Outcome[] = [];
    for (const [index, fault] of faults.entries()) {
      const outcome = await experiment(fault, {
        ...options,
        cluster,
        // The same for a fault whichever others are done with it.
        seed: seed * 1_000 + Number(fault.id.slice(1)),
        onHit: ({ id }, phase, hit) =>
          appendFileSync(faultLog, `${JSON.stringify({ seed, index, id, phase, ...hit })}\n`),
      });
      outcomes.push(outcome);
      onOutcome(outcome);
    }
    return { outcomes, logs: cluster.logs() };
  } finally {
    await cluster.stop();
  }
}

async function saveAll(
  { clients, effects }: ChaosCluster,
  faults: readonly Fault[],
): Promise<void> {
  await saveShapes(clients[0], EFFECT_PREFIX, effectShapes(effects.url));
  for (const { shapes } of faults)
    if (shapes !== undefined) await saveShapes(clients[0], shapes.prefix, shapes.all);
}
