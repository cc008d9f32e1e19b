// The planner: the facts that follow from the state of a run. No other file branches on that state. The planner is pure, with one
// exception: it removes the nodes that it handled from `state.frontier` and `state.scopes`, the work lists of the fold. So the work for a
// result depends on the edges that it touches, and not on the size of the graph or the width of a map. Planning twice on the same log adds
// nothing: a decided node is no longer pending, and nothing follows after the end of a run.

import { LIMITS } from "../data/limits.ts";
import type { Cause } from "../fault/cause.ts";
import { unreachable } from "../fault/invariant.ts";
import { contextBytes } from "../log/context.ts";
import { isFinal, type Fact, type SkipReason } from "../log/event.ts";
import { movedDeadline } from "../log/clock.ts";
import { wasSkippedAfterFailure } from "../log/edge-effect.ts";
import { mayWrite } from "../log/memory.ts";
import type { RunState } from "../log/state.ts";
import { failureFact } from "./failure.ts";
import { exceededFacts, Funds, overspent } from "./funds.ts";
import { gateFact, gateQueued } from "./gate.ts";
import { inlineFacts, isInlineKind, NO_INLINE } from "./inline.ts";
import { cancelLate } from "./late.ts";
import { readiness } from "./join.ts";
import { executionLimits } from "./limits.ts";
import { contextTooLarge } from "./oversize.ts";
import { graphNodeAt, nodeStateAt, placeAt, queueFact, RUN_PLACE } from "./place.ts";
import { releaseOf } from "./release.ts";
import { followJump } from "./repeat.ts";
import { queueUnfunded } from "./requeue.ts";
import type { Planning } from "./planning.ts";
import { decideScope } from "./scope.ts";
import { failWholeRun, verdict } from "./stop.ts";
import { decideUndo } from "./undo.ts";

/**
 * One round on `state`. It returns the facts to append, and empties the work lists. It returns no facts if nothing more follows from the
 * log. It completes glue nodes within `budget` instead of queueing them.
 */
export function decide(state: RunState, now: number, budget = NO_INLINE): Fact[] {
  if (isFinal(state.status) || !state.isAdmitted) return [];
  // The work lists keep the nodes that results touch meanwhile. The command that resumes the run plans them.
  if (state.status === "paused") return [];
  if (state.ending !== undefined) return decideUndo(state, state.ending, now);
  if (state.fatalNode !== undefined) return failWholeRun(state, state.fatalNode, now);
  const excess = overspent(state);
  if (excess !== undefined) return exceededFacts(state, { message: excess }, now);
  const funds = new Funds(state, budget.priceOf);
  const round = { state, now, budget, funds };
  if (state.jumps.length > 0 || state.iterationCount > state.maxIterations) {
    const jumped = followJump(state, now);
    // The target is pending: it runs now, whatever its join.
    if (jumped.kind === "facts") return jumped.facts;
    const fact = runNode(round, jumped.target);
    if (funds.exceeded !== undefined) return exceededFacts(state, funds.exceeded, now);
    return fact === undefined ? [] : [fact];
  }
  // Late parents have their own round: no other rule decides about a node that this round cancels.
  const late = cancelLate(state);
  if (late.length > 0) return late;
  // An execution that a policy stops here is not queued any more, so no later rule of this round may claim it.
  const stopped = state.isTaintMoved ? gateQueued(state) : [];
  if (stopped.length > 0) return stopped;
  const facts = queueUnfunded(round);
  const lastNode = decideFrontier(round, facts);
  const lastScope = lastNode === undefined ? decideScopes(round, facts) : undefined;
  // The work lists stay as they are: a user who raises the budget lets the run continue from here.
  if (funds.exceeded !== undefined) return exceededFacts(state, funds.exceeded, now);
  strike(state.frontier, lastNode, funds);
  if (lastNode === undefined) strike(state.scopes, lastScope, funds);
  if (facts.length > 0) return facts;
  return state.unsettledCount === 0 ? verdict(state, now) : decideStatus(round);
}

/**
 * Decides about the nodes of the frontier. A round ends behind a fact that writes the memory, because the bounds of the memory count what it
 * wrote. Gives the node of that fact.
 */
function decideFrontier(round: Planning, facts: Fact[]): number | undefined {
  for (const index of round.state.frontier) {
    const fact = decideNode(round, index);
    if (fact === undefined) continue;
    facts.push(fact);
    if (fact.type === "node.completed" && mayWrite(graphNodeAt(round.state, index))) return index;
  }
  return undefined;
}

/** The same for scopes, whose iterations write by `memory.updated`. A scope that completes may write its key. */
function decideScopes(round: Planning, facts: Fact[]): number | undefined {
  for (const index of round.state.scopes) {
    const more = decideScope(round, index);
    facts.push(...more);
    const isKept = mayWrite(graphNodeAt(round.state, index));
    const writes = ({ type, iteration }: Fact): boolean =>
      type === "memory.updated" || (isKept && type === "node.completed" && iteration === 0);
    if (more.some(writes)) return index;
  }
  return undefined;
}

/** Removes what the round has handled from a work list: everything, or all up to the last one. */
function strike(list: Set<number>, last: number | undefined, funds: Funds): void {
  for (const index of list) {
    if (!funds.holdsBack(index)) list.delete(index);
    if (index === last) return;
  }
}

/** A live run waits if no execution can advance by itself and one waits for a person or a child run. */
function decideStatus({ state, now }: Planning): Fact[] {
  const { status: from, activeCount, blockedCount } = state;
  if (from !== "running" && from !== "waiting") return [];
  const to = activeCount === 0 && blockedCount > 0 ? "waiting" : "running";
  if (from === to) return [];
  const payload = { from, to, ...(to === "running" ? movedDeadline(state, now) : {}) } as const;
  return [{ ...RUN_PLACE, type: "run.status.changed", payload }];
}

/**
 * Plans until nothing more follows: a skipped node settles, which may decide its children, and so on down the graph without recursion.
 * `append` gives each fact its seq and applies it to `state` before it returns.
 */
export function planToFixpoint(
  state: RunState,
  now: number,
  append: (fact: Fact) => void,
  budget = NO_INLINE,
): void {
  for (;;) {
    const wasFatal = state.fatalNode !== undefined;
    const facts = decide(state, now, budget);
    if (facts.length === 0) return;
    for (const fact of facts) {
      append(fact);
      // The rest of this round is void: the next round cancels every unsettled execution.
      if (!wasFatal && state.fatalNode !== undefined) break;
    }
  }
}

function decideNode(round: Planning, index: number): Fact | undefined {
  const nodeState = nodeStateAt(round.state, index);
  if (nodeState.status !== "pending") return undefined;
  const isEntered = nodeState.entry !== undefined;
  const ready = isEntered ? "run" : readiness(graphNodeAt(round.state, index), nodeState);
  switch (ready) {
    case "wait":
      return undefined;
    case "run":
      return runNode(round, index);
    case "untaken":
      return onNoParentTaken(round, index);
    case "parents_failed":
      return onParentsFailed(round, index);
    default:
      return unreachable(ready, "readiness");
  }
}

/** The node's own policy decides about a failed parent. */
function onParentsFailed(round: Planning, index: number): Fact | undefined {
  const policy = graphNodeAt(round.state, index).definition.onParentFailure;
  switch (policy) {
    case "skip":
      return skip(round, index, "parent_not_completed");
    case "propagate": {
      // The node's error handling is for its own failures only.
      const payload = { cause: "upstream_failure", message: "upstream_failure" };
      return { ...placeAt(round.state, index), type: "node.failed", payload };
    }
    case "substitute_default":
      return runNode(round, index);
    default:
      return unreachable(policy, "parent failure policy");
  }
}

/**
 * No parent leads to the node, and no parent failed. The planner skips every node of a branch that the run did not take. A node behind a
 * node that was skipped after a failure follows its own policy: it runs if it substitutes defaults. Otherwise the planner skips it for the
 * same reason.
 */
function onNoParentTaken(round: Planning, index: number): Fact | undefined {
  const { state } = round;
  const { incoming, definition } = graphNodeAt(state, index);
  const isAfterFailure = incoming.some(({ source }) =>
    wasSkippedAfterFailure(nodeStateAt(state, source)),
  );
  if (!isAfterFailure) return skip(round, index, "untaken_branch");
  return definition.onParentFailure === "substitute_default"
    ? runNode(round, index)
    : skip(round, index, "parent_not_completed");
}

const skip = ({ state }: Planning, index: number, reason: SkipReason): Fact => ({
  ...placeAt(state, index),
  type: "node.skipped",
  payload: { reason },
});

/** Completes a ready node within the inline budget, or queues it. Undefined if it waits for a budget of the run or its own. */
function runNode(round: Planning, index: number): Fact | undefined {
  const { state, now, funds } = round;
  const place = placeAt(state, index);
  const { definition } = graphNodeAt(state, index);
  const fail = (failure: { readonly cause: Cause; readonly message: string }): Fact =>
    failureFact(definition, place, { ...failure, durationMs: 0 });
  const bytes = contextBytes(state, index, place.iteration);
  if (bytes > LIMITS.contextBytes) return fail(contextTooLarge(bytes));
  const resolved = executionLimits(state, index, place.iteration);
  if (resolved?.ok === false)
    return fail({ cause: "limit_key_invalid", message: resolved.message });
  const gated = gateFact(state, index, place.iteration);
  if (gated !== undefined) return gated;
  const releaseAt = releaseOf(state, index, place.iteration);
  const inline = releaseAt > now ? undefined : inlineFacts(round, index, place.iteration);
  const limits = resolved?.limits;
  if (inline?.[0] !== undefined) return inline[0];
  if (isInlineKind(state, index, place.iteration))
    return queueFact(place, { releaseAt, now, limits });
  const funding = funds.ask(index, place.iteration);
  if (funding.kind === "granted") return queueFact(place, { releaseAt, now, limits, ...funding });
  if (funding.kind !== "node_exceeded") return undefined;
  return fail({ cause: "budget_exceeded", message: funding.message });
}
