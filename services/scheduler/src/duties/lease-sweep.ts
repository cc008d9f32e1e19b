// Takes back the leases of executors that fell silent, and ends claims that are past their node's timeout although their executor lives.
// The store's clock says which. Neither is judged while silence or age may have another reason (leaseGrace.ts): after an outage executors
// say first what they could not say before.

import { probe } from "@pawl/platform/lifecycle/probe";
import type { ExpiredLease } from "@pawl/platform/store/leases/leases";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { SweepParts } from "./sweeps.ts";

/** Found per sweep; a full batch sweeps again at once. */
const FOUND_MAX = 500;

export async function sweepLeases(parts: SweepParts): Promise<boolean> {
  const { executors, leaseGrace, learnClock } = parts;
  const expired = await leaseGrace.look(async () => {
    const found = await executors.expiredLeases(FOUND_MAX);
    // Read afterwards: a step that makes leases look expired is known before they are judged.
    await learnClock();
    return found;
  });
  const lost = expired.filter(({ hasLeft, limitMs }) => {
    if (limitMs === undefined) return hasLeft || leaseGrace.isOver;
    return leaseGrace.isOver && leaseGrace.isCredible(limitMs);
  });
  if (lost.length > 0) probe("sweep.before-take-back");
  await Promise.all(lost.map((lease) => take(parts, lease)));
  return lost.length === FOUND_MAX;
}

async function take({ loop, log }: SweepParts, lease: ExpiredLease): Promise<void> {
  const { executorId, runId, nodeId, epoch, limitMs } = lease;
  const { promise, resolve, reject } = Promise.withResolvers<"taken" | "stale">();
  const answer = { resolve, reject };
  const isOverdue = limitMs !== undefined;
  const silence = lease.hasLeft ? "stream_broken" : "lease_expired";
  const reason = isOverdue ? "overdue" : silence;
  loop.submit({ kind: "lost", claim: lease, reason, executorId, answer });
  // Its executor reported in time, or another scheduler found it too.
  if ((await promise) === "stale") return;
  const about = { run_id: runId, node_id: nodeId, epoch, executor_id: executorId };
  if (isOverdue) {
    METRICS.claimsOverdue.add(1);
    log.warn(
      { ...about, limit_ms: limitMs },
      "ended a claim that is past its node's timeout; look at its executor, which should have",
    );
    return;
  }
  METRICS.leasesLost.add(1);
  log.info(about, "took back a lost claim");
}
