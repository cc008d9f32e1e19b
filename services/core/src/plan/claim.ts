// The facts of a claim: the scheduler grants it or takes it back. The seq of node.started is the epoch of the claim. The scheduler refuses
// an executor that names another epoch, or a claim of another executor. A lost claim costs a delivery and never an attempt of the handler.

import { LIMITS } from "../data/limits.ts";
import type { Fact, FactOf, RecoveryReason } from "../log/event.ts";
import { executionAt, executionDefinition } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import { readTaint } from "../log/taint.ts";
import type { ExecutorId } from "../name/ids.ts";
import { lostMessage } from "./exhausted.ts";
import { failureFact } from "./failure.ts";
import { taintField } from "./label.ts";
import { isBudgeted } from "./funds.ts";
import { durationOf, graphNodeAt, placeAt } from "./place.ts";

/**
 * node.started for a queued execution, or undefined if there is nothing to claim. Its epoch is 0 until it has a seq, because the epoch is
 * that seq.
 */
export function claimFact(
  state: RunState,
  nodeIndex: number,
  iteration: number,
  executorId: ExecutorId,
): FactOf<"node.started"> | undefined {
  const node = executionAt(state, nodeIndex, iteration);
  if (node?.status !== "queued" || state.status === "paused") return undefined;
  const wave = graphNodeAt(state, nodeIndex).wave;
  const payload = { executorId, wave, ...taintField(readTaint(state, nodeIndex, iteration)) };
  return { ...placeAt(state, nodeIndex, iteration), type: "node.started", payload };
}

/** A claim that the scheduler takes back. */
interface LeaseLoss {
  readonly nodeIndex: number;
  readonly iteration: number;
  readonly epoch: number;
  readonly reason: RecoveryReason;
  readonly executorId: ExecutorId;
  readonly now: number;
}

/**
 * The facts of a lost claim: run.recovered, then the same attempt queued again. If the execution has lost LIMITS.deliveriesMax claims, it
 * fails with `delivery_exhausted` instead, and its error handling applies. A release at a graceful stop does not count as a loss.
 */
export function onLeaseLost(
  state: RunState,
  { nodeIndex, iteration, epoch, reason, executorId, now }: LeaseLoss,
): { readonly kind: "stale" } | { readonly kind: "accepted"; readonly facts: Fact[] } {
  const node = executionAt(state, nodeIndex, iteration);
  if (node === undefined || node.status !== "running" || node.epoch !== epoch)
    return { kind: "stale" };
  if (node.executorId !== executorId) return { kind: "stale" };
  const place = placeAt(state, nodeIndex, iteration);
  const lostDeliveries = node.lostDeliveries + (reason === "released" ? 0 : 1);
  const payload = { reason, executorId, lostDeliveries };
  const recovered = { ...place, epoch, type: "run.recovered", payload } as const;
  const isAgain = reason === "released" || lostDeliveries < LIMITS.deliveriesMax;
  if (isAgain && isBudgeted(state, nodeIndex)) {
    const waiting = { ...payload, awaitsBudget: true } as const;
    return { kind: "accepted", facts: [{ ...recovered, payload: waiting }] };
  }
  if (isAgain)
    return { kind: "accepted", facts: [recovered, { ...place, type: "node.queued", payload: {} }] };
  const failure = failureFact(executionDefinition(state, nodeIndex, iteration), place, {
    cause: "delivery_exhausted",
    message: lostMessage(state, place, lostDeliveries),
    durationMs: durationOf(node, now),
  });
  return { kind: "accepted", facts: [recovered, failure] };
}
