// The next facts of a map or a loop: more iterations while there is room, or the end of the node. The planner reads only the scope's
// counters, so a result costs the same in a scope of ten and of ten thousand. Only the end reads every iteration, once.

import { LIMITS } from "../data/limits.ts";
import type { Cause } from "../fault/cause.ts";
import type { ScopeDefinition } from "../definition/shape.ts";
import type { Fact } from "../log/event.ts";
import type { ScopeState } from "../log/state.ts";
import { failureFact } from "./failure.ts";
import { inlineFact, type Round } from "./inline.ts";
import { executionLimits } from "./limits.ts";
import {
  cancelFact,
  durationOf,
  graphNodeAt,
  nodeIdAt,
  nodeStateAt,
  openIterations,
  placeAt,
  queueFact,
} from "./place.ts";

/** The next facts of the scope of one node. */
export function decideScope(round: Round, index: number): Fact[] {
  const { state } = round;
  const { status, scope, base } = nodeStateAt(state, index);
  const { scope: definition } = graphNodeAt(state, index).definition;
  if (status !== "waiting" || scope === undefined || definition === null) return [];
  const failure = failureOf(scope, base, definition);
  if (failure !== undefined) return fail(round, index, failure);
  const isOver = scope.isStopped || scope.items.length === scope.width;
  if (!isOver) return runMore(round, index, scope, definition);
  if (scope.openCount > 0) return [];
  if (scope.isCut && !scope.isStopped) {
    const message = `the loop did not end within ${scope.width} iterations`;
    return fail(round, index, { cause: "max_iterations", message });
  }
  return [completedFact(round, index, scope)];
}

interface Failure {
  readonly cause: Cause;
  readonly message: string;
}

function failureOf(
  scope: ScopeState,
  base: number,
  definition: ScopeDefinition,
): Failure | undefined {
  const { firstFailed } = scope;
  if (firstFailed !== undefined && definition.onItemFailure === "fail") {
    const why = scope.items[firstFailed - 1]?.message ?? "no message";
    return { cause: "item_failed", message: `iteration ${base + firstFailed} failed: ${why}` };
  }
  if (scope.outputBytes <= LIMITS.valueBytes) return undefined;
  const message = `the outputs together are larger than ${LIMITS.valueBytes} bytes`;
  return { cause: "output_too_large", message };
}

/** Completes or queues the next iterations, as many as may be open at once. */
function runMore(
  round: Round,
  index: number,
  scope: ScopeState,
  { parallelism, hasPrevious }: ScopeDefinition,
): Fact[] {
  const { state, now } = round;
  const next = nodeStateAt(state, index).base + scope.items.length + 1;
  const count = Math.min(parallelism - scope.openCount, scope.width - scope.items.length);
  // A delay holds back the next iteration of a loop. In a map it holds back only the nodes behind the map.
  const releaseAt = hasPrevious ? (scope.releaseAt ?? 0) : 0;
  const facts: Fact[] = [];
  for (let iteration = next; iteration < next + count; iteration++) {
    const resolved = executionLimits(state, index, iteration);
    if (resolved?.ok === false)
      return fail(round, index, { cause: "limit_key_invalid", message: resolved.message });
    const inline = releaseAt > now ? undefined : inlineFact(round, index, iteration);
    const place = placeAt(state, index, iteration);
    facts.push(inline ?? queueFact(place, { releaseAt, now, limits: resolved?.limits }));
  }
  return facts;
}

/** Cancels the open iterations and fails the node. The planner queues no more of them. */
function fail({ state, now }: Round, index: number, failure: Failure): Fact[] {
  const reason = `node ${nodeIdAt(state, index)} failed: ${failure.cause}`;
  const durationMs = durationOf(nodeStateAt(state, index), now);
  const { definition } = graphNodeAt(state, index);
  return [
    ...openIterations(state, index).map((iteration) =>
      cancelFact(placeAt(state, index, iteration), reason),
    ),
    failureFact(definition, placeAt(state, index), { ...failure, durationMs }),
  ];
}

/** Leaves by `loop` if there were items, otherwise by `done`. */
function completedFact({ state, now }: Round, index: number, scope: ScopeState): Fact {
  const outputs = scope.items.map((item) => item.output ?? "null");
  const delayMs = (scope.releaseAt ?? 0) - now;
  const payload = {
    durationMs: durationOf(nodeStateAt(state, index), now),
    handle: outputs.length > 0 ? "loop" : "done",
    ...(delayMs > 0 ? { queueDelayMs: delayMs } : {}),
  };
  const value = `[${outputs.join(",")}]`;
  return { ...placeAt(state, index), type: "node.completed", payload, value };
}
