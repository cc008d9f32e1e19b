// What happens next inside a map or a loop: more iterations while there is room, or the node's own end. Answered on the scope's
// counters, so a result costs the same in a scope of ten and of ten thousand; only the end looks at every iteration, once.

import { LIMITS } from "../data/limits.ts";
import type { Cause } from "../fault/cause.ts";
import type { ScopeDefinition } from "../definition/shape.ts";
import { isSettled, type Fact } from "../log/event.ts";
import type { NodeState, RunState, ScopeState } from "../log/state.ts";
import type { Decision } from "./decision.ts";
import { failureFact } from "./failure.ts";
import { type InlineBudget, inlineFact } from "./inline.ts";
import { iterationLimits } from "./limits.ts";
import { graphNodeAt, nodeIdAt, nodeStateAt } from "./place.ts";

/** The handle of a map or a loop that had items, and of one that had none. */
export const LOOP_HANDLE = "loop";
export const DONE_HANDLE = "done";

/** Decisions about the scope of one node. */
export function decideScope(
  state: RunState,
  index: number,
  now: number,
  budget: InlineBudget,
): Decision[] {
  const node = nodeStateAt(state, index);
  const { scope: definition } = graphNodeAt(state, index).definition;
  const { scope } = node;
  if (node.status !== "waiting" || scope === undefined || definition === null) return [];
  const failure = failureOf(scope, definition);
  if (failure !== undefined) return fail(state, index, now, failure);
  const isOver = scope.isStopped || scope.items.length === scope.width;
  if (!isOver) return runMore(state, index, scope, now, budget);
  if (scope.openCount > 0) return [];
  if (scope.isCut && !scope.isStopped) {
    const message = `the loop did not end within ${scope.width} iterations`;
    return fail(state, index, now, { cause: "max_iterations", message });
  }
  return [{ kind: "settle", fact: completedFact(state, index, now) }];
}

/** Iterations of a node that are queued or under way. */
export const openIterations = ({ scope }: NodeState): number[] =>
  scope === undefined || scope.openCount === 0
    ? []
    : scope.items.flatMap((item, at) => (isSettled(item.status) ? [] : [at + 1]));

interface Failure {
  readonly cause: Cause;
  readonly message: string;
}

function failureOf(scope: ScopeState, definition: ScopeDefinition): Failure | undefined {
  const { firstFailed } = scope;
  if (firstFailed !== undefined && definition.onItemFailure === "fail") {
    const why = scope.items[firstFailed - 1]?.message ?? "no message";
    return { cause: "item_failed", message: `iteration ${firstFailed} failed: ${why}` };
  }
  if (scope.outputBytes <= LIMITS.valueBytes) return undefined;
  const message = `the outputs together are larger than ${LIMITS.valueBytes} bytes`;
  return { cause: "output_too_large", message };
}

/** Completes or queues the next iterations, as many as may be under way at once. */
function runMore(
  state: RunState,
  node: number,
  scope: ScopeState,
  now: number,
  budget: InlineBudget,
): Decision[] {
  const { definition } = graphNodeAt(state, node);
  const { parallelism = 0, hasPrevious = false } = definition.scope ?? {};
  const next = scope.items.length + 1;
  const count = Math.min(parallelism - scope.openCount, scope.width - scope.items.length);
  // A delay holds back what follows it: the next iteration of a loop, and of a map only what follows the map.
  const releaseAt = hasPrevious ? (scope.releaseAt ?? 0) : 0;
  const held = releaseAt > now ? { notBefore: releaseAt } : {};
  const decisions: Decision[] = [];
  for (let iteration = next; iteration < next + count; iteration++) {
    const limits = iterationLimits(state, node, iteration);
    if (limits?.ok === false)
      return fail(state, node, now, { cause: "limit_key_invalid", message: limits.message });
    const fact = releaseAt > now ? undefined : inlineFact(state, node, iteration, now, budget);
    if (fact !== undefined) {
      decisions.push({ kind: "settle", fact });
      continue;
    }
    const limited = limits === undefined ? {} : { limits: limits.limits };
    decisions.push({ kind: "queue", node, iteration, attempt: 1, ...held, ...limited });
  }
  return decisions;
}

/** What is under way is cancelled, what was not queued never will be. */
function fail(state: RunState, index: number, now: number, failure: Failure): Decision[] {
  const node = nodeStateAt(state, index);
  const { cause, message } = failure;
  const reason = `node ${nodeIdAt(state, index)} failed: ${cause}`;
  const { definition } = graphNodeAt(state, index);
  const durationMs = durationOf(node, now);
  const outcome = { cause, message, durationMs };
  return [
    ...openIterations(node).map((iteration): Decision => ({
      kind: "cancel",
      node: index,
      iteration,
      reason,
    })),
    { kind: "settle", fact: failureFact(definition, placeOf(state, index), outcome) },
  ];
}

function completedFact(state: RunState, index: number, now: number): Fact {
  const node = nodeStateAt(state, index);
  const { scope } = node;
  const outputs = (scope?.items ?? []).map((item) => item.output ?? "null");
  const delayMs = (scope?.releaseAt ?? 0) - now;
  const payload = {
    durationMs: durationOf(node, now),
    handle: outputs.length > 0 ? LOOP_HANDLE : DONE_HANDLE,
    ...(delayMs > 0 ? { queueDelayMs: delayMs } : {}),
  };
  const value = `[${outputs.join(",")}]`;
  return { ...placeOf(state, index), type: "node.completed", payload, value };
}

const durationOf = (node: NodeState, now: number): number =>
  Math.max(0, now - (node.startedAt ?? now));

/** Facts of the engine's own carry no epoch. */
const placeOf = (state: RunState, index: number) => ({
  nodeId: nodeIdAt(state, index),
  iteration: 0,
  attempt: nodeStateAt(state, index).attempt,
  epoch: 0,
});
