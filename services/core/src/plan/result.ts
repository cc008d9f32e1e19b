// What an outcome becomes, as facts. The race it survives: an executor whose claim was taken back may still report. Its epoch
// is not the node's live one any more, so it is `stale` and changes nothing; an outcome that was accepted before is
// `duplicate` and is acknowledged again.

import { LIMITS } from "../data/limits.ts";
import { exceedsUtf8 } from "../data/utf8.ts";
import type { Fact } from "../log/event.ts";
import type { NodeState, RunState } from "../log/state.ts";
import { backoffMs, mayRetry } from "../policy/retry.ts";
import { graphNodeAt, nodeStateAt } from "./place.ts";

/** How an attempt ended, as its executor tells it. */
export type Outcome =
  | {
      readonly kind: "completed";
      /** JSON text; the engine carries it. */
      readonly outputJson: string;
      readonly handle?: string;
      readonly queueDelayMs?: number;
      readonly durationMs: number;
    }
  | {
      readonly kind: "failed";
      readonly cause: string;
      readonly message: string;
      /** Never retry, whatever the policy. */
      readonly permanent: boolean;
      readonly detailsJson?: string;
      readonly durationMs: number;
    };

export interface OutcomeArrival {
  readonly nodeIndex: number;
  readonly iteration: number;
  readonly epoch: number;
  readonly outcome: Outcome;
  /** In [0, 1]: spreads the backoff. */
  readonly jitter: number;
  readonly now: number;
}

export type Arrival =
  | { readonly kind: "stale" }
  | { readonly kind: "duplicate" }
  | { readonly kind: "accepted"; readonly facts: Fact[] };

/** Whether an arrival speaks for the node's live claim. */
export function arrivalOf(
  node: NodeState | undefined,
  iteration: number,
  epoch: number,
): "live" | "duplicate" | "stale" {
  if (node === undefined || iteration !== 0 || epoch <= 0) return "stale";
  if (node.status === "running" && node.epoch === epoch) return "live";
  return node.reportedEpoch === epoch ? "duplicate" : "stale";
}

/** The facts that follow from an outcome; children are the planner's business. Changes nothing itself. */
export function onOutcome(state: RunState, arrival: OutcomeArrival): Arrival {
  const { nodeIndex, iteration, epoch, outcome } = arrival;
  const standing = arrivalOf(state.nodes[nodeIndex], iteration, epoch);
  if (standing !== "live") return { kind: standing };
  const facts =
    outcome.kind === "completed"
      ? completedFacts(state, arrival, outcome)
      : failedFacts(state, arrival, outcome);
  return { kind: "accepted", facts };
}

type Completed = Extract<Outcome, { kind: "completed" }>;
type Failed = Extract<Outcome, { kind: "failed" }>;

function completedFacts(state: RunState, arrival: OutcomeArrival, outcome: Completed): Fact[] {
  const { outputJson, handle, queueDelayMs, durationMs } = outcome;
  if (exceedsUtf8(outputJson, LIMITS.valueBytes)) {
    const message = `the output is larger than ${LIMITS.valueBytes} bytes`;
    const cause = "result_too_large";
    return failedFacts(state, arrival, {
      kind: "failed",
      cause,
      message,
      permanent: true,
      durationMs,
    });
  }
  const payload = {
    durationMs,
    ...(handle === undefined ? {} : { handle }),
    ...(queueDelayMs === undefined ? {} : { queueDelayMs }),
  };
  return [{ ...placeOf(state, arrival), type: "node.completed", payload, value: outputJson }];
}

function failedFacts(state: RunState, arrival: OutcomeArrival, outcome: Failed): Fact[] {
  const { nodeIndex, jitter, now } = arrival;
  const { definition } = graphNodeAt(state, nodeIndex);
  const place = placeOf(state, arrival);
  const { cause, message, durationMs } = outcome;
  if (cause === "cancelled")
    return [{ ...place, type: "node.cancelled", payload: { reason: message } }];
  if (!outcome.permanent && mayRetry(definition.retry, place.attempt, cause)) {
    const delayMs = backoffMs(definition.retry, place.attempt, jitter);
    const next = { ...place, attempt: place.attempt + 1, epoch: 0 };
    return [
      { ...place, type: "node.retried", payload: { cause, message, delayMs } },
      { ...next, type: "node.queued", payload: { notBefore: now + delayMs } },
    ];
  }
  if (definition.errorHandling === "continue") {
    const payload = { durationMs, handle: "error" };
    return [{ ...place, type: "node.completed", payload, value: errorJson(outcome) }];
  }
  const details = outcome.detailsJson === undefined ? {} : { value: outcome.detailsJson };
  if (cause === "timeout") {
    const payload = { timeoutMs: definition.timeoutMs };
    return [{ ...place, ...details, type: "node.timed_out", payload }];
  }
  return [{ ...place, ...details, type: "node.failed", payload: { cause, message } }];
}

/** The output of a node that failed and goes on by handle `error` (S3.33). */
function errorJson({ cause, message, detailsJson }: Failed): string {
  const details = detailsJson === undefined ? "" : `,"details":${detailsJson}`;
  return `{"error":{"cause":${JSON.stringify(cause)},"message":${JSON.stringify(message)}${details}}}`;
}

const placeOf = (state: RunState, { nodeIndex, iteration, epoch }: OutcomeArrival) => ({
  nodeId: graphNodeAt(state, nodeIndex).definition.id,
  iteration,
  attempt: nodeStateAt(state, nodeIndex).attempt,
  epoch,
});
