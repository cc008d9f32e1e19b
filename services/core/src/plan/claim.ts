// Claims as facts: taking one, and losing one. The seq of node.started is the claim's epoch; an executor that names another
// epoch, or a claim of another executor, is fenced off. A lost claim costs a delivery and never an attempt of the handler.

import { LIMITS } from "../data/limits.ts";
import type { Fact, FactOf, RecoveryReason } from "../log/event.ts";
import type { RunState } from "../log/state.ts";
import type { ExecutorId } from "../name/ids.ts";
import { executionAt, executionDefinition } from "../log/execution.ts";
import { failureFact } from "./failure.ts";
import { graphNodeAt, nodeIdAt } from "./place.ts";

/**
 * node.started for an execution that waits to be claimed, or undefined when there is nothing to claim. Its epoch is 0 until it
 * is appended: the epoch is its own seq.
 */
export function claimFact(
  state: RunState,
  nodeIndex: number,
  iteration: number,
  executorId: ExecutorId,
): FactOf<"node.started"> | undefined {
  const node = executionAt(state, nodeIndex, iteration);
  if (node?.status !== "queued" || state.status === "paused") return undefined;
  return {
    nodeId: nodeIdAt(state, nodeIndex),
    iteration,
    attempt: node.attempt,
    epoch: 0,
    type: "node.started",
    payload: { executorId, wave: graphNodeAt(state, nodeIndex).wave },
  };
}

export interface LeaseLoss {
  readonly nodeIndex: number;
  readonly iteration: number;
  readonly epoch: number;
  readonly reason: RecoveryReason;
  readonly executorId: ExecutorId;
  readonly now: number;
}

/**
 * The facts that follow when a claim is taken back: run.recovered and the same attempt queued again, or, when the node
 * execution has lost LIMITS.deliveriesMax claims, its failure with cause `delivery_exhausted`, which error
 * handling `continue` turns into handle `error` as it does any other. A release at a graceful stop counts for nothing.
 */
export function onLeaseLost(
  state: RunState,
  loss: LeaseLoss,
): { readonly kind: "stale" } | { readonly kind: "accepted"; readonly facts: Fact[] } {
  const node = executionAt(state, loss.nodeIndex, loss.iteration);
  if (node === undefined || node.status !== "running" || node.epoch !== loss.epoch)
    return { kind: "stale" };
  const { reason, executorId } = loss;
  if (node.executorId !== executorId) return { kind: "stale" };
  const place = {
    nodeId: nodeIdAt(state, loss.nodeIndex),
    iteration: loss.iteration,
    attempt: node.attempt,
  };
  const lostDeliveries = node.lostDeliveries + (reason === "released" ? 0 : 1);
  const recovered: Fact = {
    ...place,
    epoch: loss.epoch,
    type: "run.recovered",
    payload: { reason, executorId, lostDeliveries },
  };
  if (reason === "released" || lostDeliveries < LIMITS.deliveriesMax)
    return {
      kind: "accepted",
      facts: [recovered, { ...place, epoch: 0, type: "node.queued", payload: {} }],
    };
  const message = `the node lost ${lostDeliveries} deliveries; its executors died or went silent`;
  const failure = {
    cause: "delivery_exhausted",
    message,
    durationMs: Math.max(0, loss.now - (node.startedAt ?? loss.now)),
  };
  const definition = executionDefinition(state.graph, loss.nodeIndex, loss.iteration);
  return {
    kind: "accepted",
    facts: [recovered, failureFact(definition, { ...place, epoch: 0 }, failure)],
  };
}
