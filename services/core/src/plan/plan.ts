// What happens next: the only place that branches on the state of a run. Pure but for one thing: it takes what it looked at
// off `state.frontier` and `state.scopes`, the work lists the fold keeps, so that work per result is the edges touched and not
// the graph, nor the width of a map.
// A plan made twice on the same log adds nothing: a decided node is not pending any more, and a run that ended decides nothing.

import { LIMITS } from "../data/limits.ts";
import { unreachable } from "../fault/invariant.ts";
import { contextBytes } from "../log/context.ts";
import { isFinal, type Fact } from "../log/event.ts";
import { movedDeadline } from "../log/clock.ts";
import { edgeEffect, wasSkippedAfterFailure } from "../log/edge-effect.ts";
import type { RunState } from "../log/state.ts";
import { factOf, type Decision } from "./decision.ts";
import { nodeLimits } from "./limits.ts";
import { contextTooLarge } from "./oversize.ts";
import { type InlineBudget, inlineFact, NO_INLINE } from "./inline.ts";
import { graphNodeAt, nodeStateAt } from "./place.ts";
import { cancelLate } from "./late.ts";
import { readiness } from "./ready.ts";
import { decideScope } from "./scope.ts";
import { failWholeRun, verdict } from "./verdict.ts";

/**
 * One round of decisions on `state`, whose frontier it empties. Empty when nothing more follows from the log. Glue nodes within
 * `budget` are completed instead of queued.
 */
export function plan(state: RunState, now: number, budget = NO_INLINE): Decision[] {
  if (isFinal(state.status) || !state.isAdmitted) return [];
  // The work lists keep what results bring meanwhile; whoever resumes the run plans on them.
  if (state.status === "paused") return [];
  if (state.fatalNode !== undefined) return failWholeRun(state, state.fatalNode);
  // In a round of its own: whoever is cancelled is decided about by nothing else in it.
  const late = cancelLate(state);
  if (late.length > 0) return late;
  const decisions: Decision[] = [];
  for (const index of state.frontier) {
    const decision = decideNode(state, index, now, budget);
    if (decision !== undefined) decisions.push(decision);
  }
  state.frontier.clear();
  for (const index of state.scopes) decisions.push(...decideScope(state, index, now, budget));
  state.scopes.clear();
  if (decisions.length > 0) return decisions;
  if (state.unsettledCount === 0) return [{ kind: "finish", terminal: verdict(state) }];
  return decideStatus(state, now);
}

/** A live run waits when nothing of it can move by itself and something waits for a person or a child run. */
function decideStatus(state: RunState, now: number): Decision[] {
  const { status: from, activeCount, blockedCount } = state;
  if (from !== "running" && from !== "waiting") return [];
  const to = activeCount === 0 && blockedCount > 0 ? "waiting" : "running";
  if (from === to) return [];
  return [{ kind: "status", from, to, ...(to === "running" ? movedDeadline(state, now) : {}) }];
}

/** One round, as the facts to append. */
export const decide = (state: RunState, now: number, budget = NO_INLINE): Fact[] =>
  plan(state, now, budget).map((decision) => factOf(state, decision));

/**
 * Plans until nothing more follows: a skipped node settles, which may decide its children, and so on down the graph without
 * recursion. `append` gives each fact its seq and applies it to `state` before it returns.
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
      // The rest of this round is void: everything unsettled is about to be cancelled.
      if (!wasFatal && state.fatalNode !== undefined) break;
    }
  }
}

function decideNode(
  state: RunState,
  index: number,
  now: number,
  budget: InlineBudget,
): Decision | undefined {
  const nodeState = nodeStateAt(state, index);
  if (nodeState.status !== "pending") return undefined;
  const node = graphNodeAt(state, index);
  const ready = readiness(node, nodeState);
  switch (ready) {
    case "wait":
      return undefined;
    case "run":
      return runNode(state, index, now, budget);
    case "untaken":
      return onNoParentTaken(state, index, now, budget);
    case "parents_failed":
      return onParentsFailed(state, index, now, budget);
    default:
      return unreachable(ready, "readiness");
  }
}

/** The node's own policy decides what a failed parent means to it. */
function onParentsFailed(
  state: RunState,
  index: number,
  now: number,
  budget: InlineBudget,
): Decision {
  const policy = graphNodeAt(state, index).definition.onParentFailure;
  switch (policy) {
    case "skip":
      return { kind: "skip", node: index, reason: "parent_not_completed" };
    case "propagate":
      return {
        kind: "fail",
        node: index,
        cause: "upstream_failure",
        message: "upstream_failure",
      };
    case "substitute_default":
      return runNode(state, index, now, budget);
    default:
      return unreachable(policy, "parent failure policy");
  }
}

/**
 * No parent leads to the node, and none failed. A branch that the run did not take is skipped to its end. A node behind one that was
 * skipped after a failure follows its own policy: it runs if it substitutes defaults, and is skipped for the same reason otherwise.
 */
function onNoParentTaken(
  state: RunState,
  index: number,
  now: number,
  budget: InlineBudget,
): Decision {
  const { incoming, definition } = graphNodeAt(state, index);
  const isAfterFailure = incoming.some(({ source }) =>
    wasSkippedAfterFailure(nodeStateAt(state, source)),
  );
  if (!isAfterFailure) return { kind: "skip", node: index, reason: "untaken_branch" };
  return definition.onParentFailure === "substitute_default"
    ? runNode(state, index, now, budget)
    : { kind: "skip", node: index, reason: "parent_not_completed" };
}

/** Completes a ready node within the budget, or queues it. */
function runNode(state: RunState, index: number, now: number, budget: InlineBudget): Decision {
  const bytes = contextBytes(state, index);
  if (bytes > LIMITS.contextBytes) return { kind: "fail", node: index, ...contextTooLarge(bytes) };
  const limits = nodeLimits(state, index);
  if (limits?.ok === false)
    return { kind: "fail", node: index, cause: "limit_key_invalid", message: limits.message };
  const notBefore = releaseOf(state, index);
  const fact = notBefore > now ? undefined : inlineFact(state, index, 0, now, budget);
  if (fact !== undefined) return { kind: "settle", fact };
  return {
    kind: "queue",
    node: index,
    iteration: 0,
    attempt: 1,
    ...(notBefore > now ? { notBefore } : {}),
    ...(limits === undefined ? {} : { limits: limits.limits }),
  };
}

/** The latest time at which a parent that leads here releases its children. */
function releaseOf(state: RunState, index: number): number {
  let release = 0;
  for (const edge of graphNodeAt(state, index).incoming) {
    const parent = nodeStateAt(state, edge.source);
    if (parent.releaseAt !== undefined && edgeEffect(parent, edge) === "taken")
      release = Math.max(release, parent.releaseAt);
  }
  return release;
}
