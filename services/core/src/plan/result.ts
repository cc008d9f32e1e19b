// The facts of an outcome, and of the actions that came with it.

import type { Action } from "../action/kinds.ts";
import { LIMITS } from "../data/limits.ts";
import { exceedsUtf8 } from "../data/utf8.ts";
import { AWAIT_SIGNAL } from "../definition/signal-config.ts";
import type { Cause } from "../fault/cause.ts";
import { unreachable } from "../fault/invariant.ts";
import type { AskedSignal } from "../glue/glue.ts";
import type { Expanded } from "../glue/task.ts";
import {
  APPROVAL,
  CHILD_RUN,
  SIGNAL,
  type ApprovalRequest,
  type Completion,
  type Fact,
  type NodeHold,
  type Usage,
} from "../log/event.ts";
import { executionDefinition, isItem } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import { takenTaint } from "../log/taint.ts";
import type { RunId } from "../name/ids.ts";
import { mayRetry, retriedFor, retryDelayMs } from "../policy/retry.ts";
import { actionFacts } from "./act.ts";
import { childFunds } from "./child-funds.ts";
import { spentAdvice } from "./exhausted.ts";
import { failureFact, type Failure } from "./failure.ts";
import { isBudgeted } from "./funds.ts";
import { completedTaint, type Labelled, labelFault, madeTaint, taintField } from "./label.ts";
import { graphNodeAt, placeAt } from "./place.ts";
import { gotoFault } from "./repeat.ts";
import { callsFault, routeFault, turnCalls } from "./turn.ts";

/** A finding of a check around the handler. It enters the log with the outcome, before it. */
export interface Check {
  readonly type: "contract.violated" | "moderation.flagged";
  readonly phase: "input" | "output";
  /** JSON text: the list of errors, or the finding. */
  readonly detailsJson: string;
}

/** How an attempt ended, by the report of its executor. Texts with `Json` in their name are JSON, which the scheduler does not parse. */
export type Outcome = {
  readonly checks?: readonly Check[];
  readonly durationMs: number;
  /** What the attempt used, however it ended. */
  readonly usage?: Usage;
  /** What the handler asks of the engine beside its output. */
  readonly actions?: readonly Action[];
} & Labelled &
  (
    | ({ readonly kind: "completed"; readonly outputJson: string } & Completion)
    | Expanded
    | {
        readonly kind: "child_run";
        /** The run that the node will wait for. The scheduler makes the id when the outcome arrives, so a repeated tick decides the same. */
        readonly childRunId: RunId;
        readonly workflowId: string;
        /** 0 means the newest. */
        readonly version: number;
        readonly inputJson: string;
        /** The workflow may undo its nodes when the run is cancelled. The scheduler knows it when it has found the workflow. */
        readonly compensates?: boolean;
        /** A handler of any type hands its work off. Otherwise only a subworkflow starts a run. */
        readonly isHandoff?: boolean;
      }
    /** The execution waits for a signal. The claim ends here, if there is one. */
    | ({ readonly kind: "awaiting" } & AskedSignal)
    | ({
        readonly kind: "failed";
        /** Do not retry, even if the policy allows it. */
        readonly permanent: boolean;
        /** The provider asked for at least this wait. */
        readonly retryAfterMs?: number;
      } & Failure)
    /** A person must decide. The claim ends here. */
    | ({
        readonly kind: "held";
        readonly reason: string;
        readonly outputJson?: string;
        /** The scheduler makes its id when the outcome arrives, so a repeated tick decides the same. */
        readonly approval?: ApprovalRequest;
      } & NodeHold)
  );

/** The place and the time of an outcome. */
export interface Landing {
  readonly nodeIndex: number;
  readonly iteration: number;
  readonly epoch: number;
  /** A number in [0, 1] that spreads the backoff. */
  readonly jitter: number;
  readonly now: number;
}

export type Arrival =
  | { readonly kind: "stale" }
  | { readonly kind: "duplicate" }
  | { readonly kind: "accepted"; readonly facts: Fact[] };

type OutcomeOf<Kind extends Outcome["kind"]> = Extract<Outcome, { kind: Kind }>;

/** The facts of an outcome of the live claim, or of the scheduler's own. */
export function outcomeFacts(
  state: RunState,
  arrival: Landing & { readonly outcome: Outcome },
): Fact[] {
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
    case "awaiting":
      return awaitingFacts(state, arrival, outcome);
    case "held":
      return heldFacts(state, arrival, outcome);
    default:
      return unreachable(outcome, "outcome");
  }
}

const isItemOf = (state: RunState, { nodeIndex, iteration }: Landing): boolean =>
  isItem(state, nodeIndex, iteration);

const placeOf = (state: RunState, { nodeIndex, iteration, epoch }: Landing) =>
  placeAt(state, nodeIndex, iteration, epoch);

/** The claim ends here. The planner queues the iterations. */
function expandedFacts(state: RunState, landing: Landing, outcome: OutcomeOf<"expanded">): Fact[] {
  const { itemsJson, width, cut } = outcome;
  const refuse = refusal(state, landing, outcome);
  const { scope } = graphNodeAt(state, landing.nodeIndex).definition;
  if (scope === null || isItemOf(state, landing))
    return refuse("output_invalid", "only a map, a loop or an agent has items");
  if (width > LIMITS.scopeWidth)
    return refuse("too_many_items", `${width} items; at most ${LIMITS.scopeWidth}`);
  if (scope.agent !== undefined && width !== 1)
    return refuse("output_invalid", "an agent expands into the opening of its conversation");
  if (isTooLarge(itemsJson)) return refuse("output_too_large", `the items are ${TOO_LARGE}`);
  const taken = takenTaint(state, landing.nodeIndex, landing.iteration);
  const payload = { width, ...(cut ? { cut } : {}), ...taintField(taken) };
  return [{ ...placeOf(state, landing), type: "node.expanded", payload, value: itemsJson }];
}

const isTooLarge = (json: string): boolean => exceedsUtf8(json, LIMITS.valueBytes);
const TOO_LARGE = `larger than ${LIMITS.valueBytes} bytes`;

/** Makes a failure of an outcome that no policy retries. */
const refusal =
  (state: RunState, landing: Landing, { durationMs, usage }: Outcome) =>
  (cause: Cause, message: string): Fact[] => {
    const failure = { kind: "failed", cause, message, permanent: true, durationMs } as const;
    return failedFacts(state, landing, usage === undefined ? failure : { ...failure, usage });
  };

/** The claim ends here. The same transaction inserts the child run. */
function childRunFacts(state: RunState, landing: Landing, outcome: OutcomeOf<"child_run">): Fact[] {
  const { type } = executionDefinition(state, landing.nodeIndex, landing.iteration);
  const refuse = refusal(state, landing, outcome);
  if (type !== "subworkflow" && outcome.isHandoff !== true)
    return refuse("output_invalid", "only a subworkflow starts a run");
  if (state.depth >= LIMITS.runDepth)
    return refuse("too_deep", `runs are at most ${LIMITS.runDepth} deep`);
  const funds = childFunds(state, landing.nodeIndex, landing.iteration);
  if (funds !== undefined && "fault" in funds) return refuse("budget_exceeded", funds.fault);
  const { childRunId, compensates = false } = outcome;
  const more = { ...(compensates ? { compensates } : {}), ...funds };
  const payload = { reason: CHILD_RUN, childRunId, ...more };
  return acted(state, landing, outcome, {
    ...placeOf(state, landing),
    type: "node.blocked",
    payload,
  });
}

function completedFacts(
  state: RunState,
  landing: Landing,
  outcome: OutcomeOf<"completed">,
): Fact[] {
  const { nodeIndex } = landing;
  const { outputJson, durationMs, handle, queueDelayMs, usage, stop = false, goto } = outcome;
  if (isTooLarge(outputJson))
    return refusal(state, landing, outcome)("output_too_large", `the output is ${TOO_LARGE}`);
  const calls = turnCalls(state, landing, outcome);
  const misfit = labelFault(state, outcome);
  if (misfit !== undefined) return refusal(state, landing, outcome)("taint_invalid", misfit);
  const bad = callsFault(calls) ?? routeFault(state, nodeIndex, handle);
  if (bad !== undefined) return refusal(state, landing, outcome)(bad.cause, bad.message);
  const fault = goto === undefined ? undefined : gotoFault(state, landing, goto);
  if (fault !== undefined) return refusal(state, landing, outcome)("action_invalid", fault);
  // Only an iteration of a loop can end its loop. The iterations of a map are independent.
  const isLoop = graphNodeAt(state, nodeIndex).definition.scope?.hasPrevious === true;
  // The payload has only these fields, because the end of a hold may carry others of its event.
  const payload = {
    durationMs,
    ...(handle === undefined ? {} : { handle }),
    ...(queueDelayMs === undefined ? {} : { queueDelayMs }),
    ...(usage === undefined ? {} : { usage }),
    ...(stop && isLoop && isItemOf(state, landing) ? { stop } : {}),
    ...(goto === undefined ? {} : { goto }),
    ...(calls.length === 0 ? {} : { calls }),
    ...completedTaint(state, landing, outcome),
  };
  const fact = { ...placeOf(state, landing), type: "node.completed", payload } as const;
  return acted(state, landing, outcome, { ...fact, value: outputJson });
}

/** The fact that ends the claim, then the facts of the actions. A failure if an action is refused. */
function acted(state: RunState, landing: Landing, outcome: Outcome, fact: Fact): Fact[] {
  const made = actionFacts(state, landing, outcome);
  if (!made.ok) return refusal(state, landing, outcome)(made.cause, made.message);
  return made.facts.length === 0 ? [fact] : [fact, ...made.facts];
}

/** The execution waits for a signal. It has no lease, no job and no slot meanwhile. */
function awaitingFacts(state: RunState, landing: Landing, outcome: OutcomeOf<"awaiting">): Fact[] {
  const { type } = executionDefinition(state, landing.nodeIndex, landing.iteration);
  if (type !== AWAIT_SIGNAL)
    return refusal(state, landing, outcome)("output_invalid", "only an await_signal waits for one");
  const { name, timeoutMs } = outcome;
  const signal = { name, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  const payload = { reason: SIGNAL, signal };
  return [{ ...placeOf(state, landing), type: "node.blocked", payload }];
}

/** The execution waits for a person. An output that is too large fails at once, because no person can approve it. */
function heldFacts(state: RunState, landing: Landing, outcome: OutcomeOf<"held">): Fact[] {
  const { kind: _kind, checks: _checks, isFresh: _fresh, ...rest } = outcome;
  const { actions, outputJson, labels: _labels, taint: _taint, ...held } = rest;
  const payload = { ...held, ...taintField(madeTaint(state, landing, outcome)) };
  if (outputJson !== undefined && isTooLarge(outputJson))
    return refusal(state, landing, outcome)("output_too_large", `the output is ${TOO_LARGE}`);
  const value = outputJson === undefined ? {} : { value: outputJson };
  const fact = { ...placeOf(state, landing), ...value, type: "node.blocked" } as const;
  if (outcome.reason === APPROVAL) return acted(state, landing, outcome, { ...fact, payload });
  // The actions of an output that a person must check wait with it.
  return [{ ...fact, payload: actions === undefined ? payload : { ...payload, actions } }];
}

/** Another attempt, a completed node that leaves by `error`, or a failed node. */
function failedFacts(state: RunState, landing: Landing, outcome: OutcomeOf<"failed">): Fact[] {
  const { nodeIndex, iteration, jitter, now } = landing;
  const definition = executionDefinition(state, nodeIndex, iteration);
  const { retry } = definition;
  const place = placeOf(state, landing);
  const { cause, message, permanent, retryAfterMs, usage } = outcome;
  if (cause === "cancelled")
    return [{ ...place, type: "node.cancelled", payload: { reason: message } }];
  const isSpent = place.attempt > (state.maxRetries ?? Infinity);
  const taint = madeTaint(state, landing, outcome);
  if (permanent || isSpent || !mayRetry(retry, place.attempt, cause)) {
    const advice = permanent ? undefined : spentAdvice(state, nodeIndex, place, cause);
    return [failureFact(definition, place, { ...outcome, taint, advice })];
  }
  const delayMs = retryDelayMs(retry, place.attempt, jitter, retryAfterMs);
  const next = { ...place, attempt: place.attempt + 1, epoch: 0 };
  const used = { ...(usage === undefined ? {} : { usage }), ...taintField(taint) };
  const retried = { cause: retriedFor(cause), message, delayMs, ...used };
  if (isBudgeted(state, nodeIndex))
    return [{ ...place, type: "node.retried", payload: { ...retried, awaitsBudget: true } }];
  return [
    { ...place, type: "node.retried", payload: retried },
    { ...next, type: "node.queued", payload: { notBefore: now + delayMs } },
  ];
}
