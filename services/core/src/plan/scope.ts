// The next facts of a map or a loop: more iterations while there is room, or the end of the node. The planner reads only the scope's
// counters, so a result costs the same in a scope of ten and of ten thousand. Only the end reads every iteration, once.

import { LIMITS } from "../data/limits.ts";
import type { ScopeDefinition } from "../definition/shape.ts";
import type { Fact } from "../log/event.ts";
import type { ScopeState } from "../log/scope-state.ts";
import { decideAgent } from "./agent.ts";
import { gateFact } from "./gate.ts";
import { inlineFacts, isInlineKind } from "./inline.ts";
import { scopeTaint, taintField } from "./label.ts";
import { executionLimits } from "./limits.ts";
import { outputFault } from "./memory-bounds.ts";
import { durationOf, graphNodeAt, nodeStateAt, placeAt, queueFact } from "./place.ts";
import type { Planning } from "./planning.ts";
import { releaseOf } from "./release.ts";
import { failScope, type ScopeFailure } from "./scope-end.ts";

/** The next facts of the scope of one node. */
export function decideScope(round: Planning, index: number): Fact[] {
  const { state } = round;
  const { status, scope, base } = nodeStateAt(state, index);
  const { scope: definition } = graphNodeAt(state, index).definition;
  if (status !== "waiting" || scope === undefined || definition === null) return [];
  if (definition.agent !== undefined) return decideAgent(round, index, definition.agent);
  const failure = failureOf(scope, base, definition);
  if (failure !== undefined) return failScope(round, index, failure);
  const isOver = scope.isStopped || (scope.items.length === scope.width && scope.gaps.size === 0);
  if (!isOver) return runMore(round, index, scope, definition);
  if (scope.openCount > 0) return [];
  if (scope.isCut && !scope.isStopped) {
    const message = `the loop did not end within ${scope.width} iterations`;
    return failScope(round, index, { cause: "max_iterations", message });
  }
  return completedFacts(round, index, scope);
}

function failureOf(
  scope: ScopeState,
  base: number,
  definition: ScopeDefinition,
): ScopeFailure | undefined {
  const { firstFailed } = scope;
  if (firstFailed !== undefined && definition.onItemFailure === "fail") {
    const why = scope.items[firstFailed - 1]?.message ?? "no message";
    return { cause: "item_failed", message: `iteration ${base + firstFailed} failed: ${why}` };
  }
  if (scope.outputBytes <= LIMITS.valueBytes) return undefined;
  const message = `the outputs together are larger than ${LIMITS.valueBytes} bytes`;
  return { cause: "output_too_large", message };
}

const FREE = { kind: "granted", reserved: undefined } as const;

/** Completes or queues the next iterations, as many as may be open at once. */
function runMore(
  round: Planning,
  index: number,
  scope: ScopeState,
  { parallelism }: ScopeDefinition,
): Fact[] {
  const { state, now, funds } = round;
  const first = nodeStateAt(state, index).base + 1;
  const releaseAt = releaseOf(state, index, first);
  const facts: Fact[] = [];
  for (const at of nextPlaces(scope, parallelism - scope.openCount)) {
    const iteration = first + at;
    const resolved = executionLimits(state, index, iteration);
    if (resolved?.ok === false)
      return failScope(round, index, { cause: "limit_key_invalid", message: resolved.message });
    const gated = gateFact(state, index, iteration);
    if (gated !== undefined) {
      facts.push(gated);
      continue;
    }
    const inline = releaseAt > now ? undefined : inlineFacts(round, index, iteration);
    if (inline !== undefined) {
      facts.push(...inline);
      continue;
    }
    const isFree = isInlineKind(state, index, iteration);
    const funding = isFree ? FREE : funds.ask(index, iteration);
    if (funding.kind === "node_exceeded")
      return failScope(round, index, { cause: "budget_exceeded", message: funding.message });
    // The items behind one that waits for its budget wait too.
    if (funding.kind !== "granted") break;
    const { reserved } = funding;
    const place = placeAt(state, index, iteration);
    facts.push(queueFact(place, { releaseAt, now, limits: resolved?.limits, reserved }));
  }
  return facts;
}

/** The places of the next executions, at most `count`: gaps first, then those behind the last one. */
function nextPlaces({ gaps, items, width }: ScopeState, count: number): number[] {
  const places = gaps.size === 0 ? [] : [...gaps].slice(0, Math.max(0, count));
  const more = Math.min(count - places.length, width - items.length);
  for (let at = items.length; at < items.length + more; at++) places.push(at);
  return places;
}

/** Leaves by `loop` if there were items, otherwise by `done`. */
function completedFacts(round: Planning, index: number, scope: ScopeState): Fact[] {
  const { state, now } = round;
  const outputs = scope.items.map((item) => item.output ?? "null");
  const delayMs = (scope.releaseAt ?? 0) - now;
  const handle = outputs.length > 0 ? "loop" : "done";
  const value = `[${outputs.join(",")}]`;
  const fault = outputFault(state, index, { handle, outputJson: value });
  if (fault !== undefined) return failScope(round, index, fault);
  const payload = {
    durationMs: durationOf(nodeStateAt(state, index), now),
    handle,
    ...(delayMs > 0 ? { queueDelayMs: delayMs } : {}),
    ...taintField(scopeTaint(state, index)),
  };
  return [{ ...placeAt(state, index), type: "node.completed", payload, value }];
}
