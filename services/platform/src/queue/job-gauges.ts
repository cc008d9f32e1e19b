// The depth of the workflow queue for /metrics. It is read only on request, so a system without monitoring pays nothing.

import type { JobCounts } from "./workflow-queue.ts";
import { METRICS } from "../telemetry/catalogue.ts";

type QueueDepthProvider = () => Promise<JobCounts>;

let provider: QueueDepthProvider | undefined;

/** Sets the source of the depths. Undefined removes it. */
export function setQueueDepthProvider(next: QueueDepthProvider | undefined): void {
  provider = next;
}

/** Updates the gauges. If the queue cannot be read, the gauges stay, and /metrics still answers. */
export async function readQueueDepth(): Promise<void> {
  const depth = await provider?.().catch(() => undefined);
  if (depth === undefined) return;
  for (const [status, count] of Object.entries(depth)) METRICS.commands.set(count, { status });
  METRICS.commandBacklog.set(depth.waiting + depth.active);
}
