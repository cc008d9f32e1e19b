// What an outcome becomes, as facts. The race it survives: an executor whose claim was taken back may still report. Its epoch
// is not the node's live one any more, so it is `stale` and changes nothing; an outcome that was accepted before is
// `duplicate` and is acknowledged again. An epoch is no secret, so the executor is compared too: only the executor that was
// given the claim can end it.

import { LIMITS } from "../data/limits.ts";
import { exceedsUtf8 } from "../data/utf8.ts";
import type { ApprovalRequest, Fact, NodeHold, Usage } from "../log/event.ts";
import type { ExecutorId, RunId } from "../name/ids.ts";
import type { Cause } from "../fault/cause.ts";
import { unreachable } from "../fault/invariant.ts";
import { type Clock, deadlineAfterChild } from "../log/clock.ts";
import { executionAt, executionDefinition } from "../log/execution.ts";
import type { ExecutionState, RunState } from "../log/state.ts";
import { mayRetry, retriedFor, retryDelayMs } from "../policy/retry.ts";
import { failureFact } from "./failure.ts";
import { graphNodeAt, RUN_PLACE } from "./place.ts";
import { type Stop, timedOut } from "./stop.ts";

/** What a check around the handler found; it enters the log with the outcome, before it. */
export interface Check {
  readonly type: "contract.violated" | "moderation.flagged";
  readonly phase: "input" | "output";
  /** JSON text: the list of errors, or the finding. */
  readonly detailsJson: string;
}

/** How an attempt ended, as its executor tells it. */
export type Outcome = { readonly checks?: readonly Check[] } & Ending;

type Ending =
  | {
      readonly kind: "completed";
      /** JSON text; the engine carries it. */
      readonly outputJson: string;
      readonly handle?: string;
      readonly queueDelayMs?: number;
      readonly usage?: Usage;
      /** Ends the loop this was an iteration of. */
      readonly stop?: boolean;
      readonly durationMs: number;
    }
  | {
      readonly kind: "expanded";
      /** The items as a JSON array. */
      readonly itemsJson: string;
      readonly width: number;
      /** There would be more. */
      readonly cut: boolean;
      readonly durationMs: number;
    }
  | {
      readonly kind: "child_run";
      /** The run the node will wait for: drawn where the outcome arrives, so that a repeated tick decides the same. */
      readonly childRunId: RunId;
      readonly workflowId: string;
      /** 0 means the newest. */
      readonly version: number;
      readonly inputJson: string;
      readonly durationMs: number;
    }
  | {
      readonly kind: "failed";
      /** A `Cause` of Pawl's own, or one that code of a user reported. */
      readonly cause: string;
      readonly message: string;
      /** Never retry, whatever the policy. */
      readonly permanent: boolean;
      readonly detailsJson?: string;
      /** The provider asked not to be called again sooner. */
      readonly retryAfterMs?: number;
      /** With the cause timeout: the limit that passed, where it is not the node's own. */
      readonly timeoutMs?: number;
      readonly durationMs: number;
    }
  /** A person is to decide; the claim ends here. */
  | ({
      readonly kind: "held";
      readonly reason: string;
      readonly outputJson?: string;
      /** Its id is drawn where the outcome arrives, so that a repeated tick decides the same. */
      readonly approval?: ApprovalRequest;
    } & NodeHold);

/** Where and when an outcome lands. */
export interface Landing {
  readonly nodeIndex: number;
  readonly iteration: number;
  readonly epoch: number;
  /** In [0, 1]: spreads the backoff. */
  readonly jitter: number;
  readonly now: number;
}

export interface OutcomeArrival extends Landing {
  /** Who reports. */
  readonly executorId: ExecutorId;
  readonly outcome: Outcome;
}

type Landed = Omit<OutcomeArrival, "executorId">;

export type Arrival =
  | { readonly kind: "stale" }
  | { readonly kind: "duplicate" }
  | { readonly kind: "accepted"; readonly facts: Fact[] };

/** Whether an arrival speaks for the execution's live claim. A claim of another executor is stale. */
export function arrivalOf(
  node: ExecutionState | undefined,
  { epoch, executorId }: Pick<OutcomeArrival, "epoch" | "executorId">,
): "live" | "duplicate" | "stale" {
  if (node === undefined || epoch <= 0) return "stale";
  if (node.status === "running" && node.epoch === epoch)
    return node.executorId === executorId ? "live" : "stale";
  return node.reportedEpoch === epoch ? "duplicate" : "stale";
}

/** The facts that follow from an outcome; children are the planner's business. Changes nothing itself. */
export function onOutcome(state: RunState, arrival: OutcomeArrival): Arrival {
  const { nodeIndex, iteration } = arrival;
  const standing = arrivalOf(executionAt(state, nodeIndex, iteration), arrival);
  if (standing !== "live") return { kind: standing };
  const checks = checkFacts(state, arrival, arrival.outcome.checks ?? []);
  return { kind: "accepted", facts: [...checks, ...outcomeFacts(state, arrival)] };
}

const checkFacts = (state: RunState, arrival: Landing, checks: readonly Check[]): Fact[] =>
  checks.map(({ type, phase, detailsJson }) => ({
    ...placeOf(state, arrival),
    type,
    payload: { phase },
    value: detailsJson,
  }));

/** The facts of an outcome that is not fenced, since the engine itself made it or knows its claim. */
export function outcomeFacts(state: RunState, arrival: Landed): Fact[] {
  const { outcome } = arrival;
  switch (outcome.kind) {
    case "completed":
      return completedFacts(state, arrival, outcome);
    case "expanded":
      return expandedFacts(state, arrival, outcome);
    case "child_run":
      return childRunFacts(state, arrival, outcome);
    case "failed":
      return failedFacts(state, arrival, outcome);
    case "held":
      return heldFacts(state, arrival, outcome);
    default:
      return unreachable(outcome, "outcome");
  }
}

type Completed = Extract<Outcome, { kind: "completed" }>;
type Expanded = Extract<Outcome, { kind: "expanded" }>;
type ChildRun = Extract<Outcome, { kind: "child_run" }>;
type Failed = Extract<Outcome, { kind: "failed" }>;
type Held = Extract<Outcome, { kind: "held" }>;

/** The claim ends here; the iterations are the planner's business. */
function expandedFacts(state: RunState, arrival: Landed, outcome: Expanded): Fact[] {
  const { itemsJson, width, cut, durationMs } = outcome;
  const refuse = (cause: Cause, message: string): Fact[] =>
    failedFacts(state, arrival, { kind: "failed", cause, message, permanent: true, durationMs });
  if (graphNodeAt(state, arrival.nodeIndex).definition.scope === null || arrival.iteration > 0)
    return refuse("output_invalid", "only a map or a loop has items");
  if (width > LIMITS.scopeWidth)
    return refuse("too_many_items", `${width} items; at most ${LIMITS.scopeWidth}`);
  if (exceedsUtf8(itemsJson, LIMITS.valueBytes))
    return refuse("output_too_large", `the items are larger than ${LIMITS.valueBytes} bytes`);
  const payload = { width, ...(cut ? { cut } : {}) };
  return [{ ...placeOf(state, arrival), type: "node.expanded", payload, value: itemsJson }];
}

/** The claim ends here; the run is inserted in the same transaction. */
function childRunFacts(state: RunState, arrival: Landed, outcome: ChildRun): Fact[] {
  const { childRunId, durationMs } = outcome;
  const refuse = (cause: Cause, message: string): Fact[] =>
    failedFacts(state, arrival, { kind: "failed", cause, message, permanent: true, durationMs });
  const { type } = executionDefinition(state.graph, arrival.nodeIndex, arrival.iteration);
  if (type !== "subworkflow") return refuse("output_invalid", "only a subworkflow starts a run");
  if (state.depth >= LIMITS.runDepth)
    return refuse("too_deep", `runs are at most ${LIMITS.runDepth} deep`);
  const payload = { reason: CHILD_RUN, childRunId };
  return [{ ...placeOf(state, arrival), type: "node.blocked", payload }];
}

/** Why a subworkflow is blocked. */
export const CHILD_RUN = "child_run";

export interface ChildEnd {
  readonly nodeIndex: number;
  readonly iteration: number;
  /** The child as it ended. */
  readonly child: Pick<RunState, "runId" | "status" | "output" | "message"> & Clock;
  readonly now: number;
}

/** The facts that follow for a node whose child run has ended; `stale` when it does not wait for that run. */
export function onChildEnd(state: RunState, end: ChildEnd): Arrival | Stop {
  const { nodeIndex, iteration, child, now } = end;
  const execution = executionAt(state, nodeIndex, iteration);
  if (execution?.status !== "waiting" || execution.childRunId !== child.runId)
    return { kind: "stale" };
  const durationMs = Math.max(0, now - (execution.startedAt ?? now));
  const why = child.message === undefined ? "" : `: ${child.message}`;
  const outcome: Outcome =
    child.status === "completed"
      ? { kind: "completed", outputJson: child.output ?? "null", durationMs }
      : {
          kind: "failed",
          cause: "child_failed",
          message: `child run ${child.runId} ended with ${child.status}${why}`,
          // What a person ended is not begun again by itself.
          permanent: child.status === "cancelled",
          durationMs,
        };
  const moved = deadlineAfterChild(state, child, now);
  // Both had the same time left, and the parent's clock was not looked at while it waited.
  if (child.status === "timeout" && moved <= now && state.status !== "paused")
    return timedOut(state, moved);
  const goesOn = { from: "waiting", to: "running", deadlineAt: moved } as const;
  const facts: Fact[] =
    moved === state.deadlineAt
      ? []
      : [{ ...RUN_PLACE, type: "run.status.changed", payload: goesOn }];
  // No executor speaks here: the epoch is 0, and the backoff is not spread.
  const arrival = { nodeIndex, iteration, epoch: 0, outcome, jitter: 1, now };
  return { kind: "accepted", facts: [...facts, ...outcomeFacts(state, arrival)] };
}

/** What a success becomes. */
export function completedFacts(state: RunState, arrival: Landing, outcome: Completed): Fact[] {
  const { outputJson, handle, queueDelayMs, usage, stop, durationMs } = outcome;
  if (exceedsUtf8(outputJson, LIMITS.valueBytes))
    return failedFacts(state, arrival, tooLarge(durationMs));
  const payload = {
    durationMs,
    ...(handle === undefined ? {} : { handle }),
    ...(queueDelayMs === undefined ? {} : { queueDelayMs }),
    ...(usage === undefined ? {} : { usage }),
    ...(stop === true && isLoop(state, arrival) ? { stop } : {}),
  };
  return [{ ...placeOf(state, arrival), type: "node.completed", payload, value: outputJson }];
}

/** Only an iteration of a loop ends something; those of a map are beside each other. */
const isLoop = (state: RunState, { nodeIndex, iteration }: Landing): boolean =>
  iteration > 0 && graphNodeAt(state, nodeIndex).definition.scope?.hasPrevious === true;

/** Held until a person decides; an output that could never be one is not worth asking about. */
function heldFacts(state: RunState, arrival: Landing, outcome: Held): Fact[] {
  const { kind: _kind, checks: _checks, outputJson, ...payload } = outcome;
  if (outputJson !== undefined && exceedsUtf8(outputJson, LIMITS.valueBytes))
    return failedFacts(state, arrival, tooLarge(outcome.durationMs));
  const value = outputJson === undefined ? {} : { value: outputJson };
  return [{ ...placeOf(state, arrival), ...value, type: "node.blocked", payload }];
}

const tooLarge = (durationMs: number): Failed => ({
  kind: "failed",
  cause: "output_too_large",
  message: `the output is larger than ${LIMITS.valueBytes} bytes`,
  permanent: true,
  durationMs,
});

/** What a failure becomes: another attempt, an error handle taken, or a failed node. */
export function failedFacts(state: RunState, arrival: Landing, outcome: Failed): Fact[] {
  const { nodeIndex, iteration, jitter, now } = arrival;
  const definition = executionDefinition(state.graph, nodeIndex, iteration);
  const place = placeOf(state, arrival);
  const { cause, message } = outcome;
  if (cause === "cancelled")
    return [{ ...place, type: "node.cancelled", payload: { reason: message } }];
  if (!outcome.permanent && mayRetry(definition.retry, place.attempt, cause)) {
    const delayMs = retryDelayMs(definition.retry, place.attempt, jitter, outcome.retryAfterMs);
    const next = { ...place, attempt: place.attempt + 1, epoch: 0 };
    return [
      { ...place, type: "node.retried", payload: { cause: retriedFor(cause), message, delayMs } },
      { ...next, type: "node.queued", payload: { notBefore: now + delayMs } },
    ];
  }
  return [failureFact(definition, place, outcome)];
}

const placeOf = (state: RunState, { nodeIndex, iteration, epoch }: Landing) => ({
  nodeId: graphNodeAt(state, nodeIndex).definition.id,
  iteration,
  attempt: executionAt(state, nodeIndex, iteration)?.attempt ?? 0,
  epoch,
});
