// How deep the workflow queue is, for /metrics: asked when somebody looks, so that a stack nobody watches pays nothing.

import type { JobCounts } from "../queue/workflow-queue.ts";
import { METRICS } from "./catalogue.ts";

export type QueueDepthProvider = () => Promise<JobCounts>;

let provider: QueueDepthProvider | undefined;

/** Says whom to ask; undefined for nobody any more. */
export function setQueueDepthProvider(next: QueueDepthProvider | undefined): void {
  provider = next;
}

/** Brings the gauges up to date. A queue that cannot be asked leaves them as they were: metrics must not fail with it. */
export async function readQueueDepth(): Promise<void> {
  const depth = await provider?.().catch(() => undefined);
  if (depth === undefined) return;
  const { waiting, active, paused, dead_letter } = depth;
  for (const [status, count] of Object.entries({ waiting, active, paused, dead_letter }))
    METRICS.commands.set(count, { status });
  METRICS.commandBacklog.set(waiting + active);
}
