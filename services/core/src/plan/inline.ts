// The scheduler completes glue nodes inside the tick that makes them ready: no lease, no executor, no message. The planner calls
// `inlineFact` before it queues a node.
//
// JSON parsing, templates and CEL run in the scheduler's event loop here, so a tick has a budget of bytes (LIMITS.inlineBytes). An
// execution costs the bytes of its context, its config and its output. Each pass of a loop in its conditions costs them once more, and so
// does each instruction of a pattern. Beyond the budget the execution is queued, and a later tick completes it. Only an execution that is
// larger than a whole budget needs an executor.

import { LIMITS } from "../data/limits.ts";
import { hasReference } from "../data/reference.ts";
import type { Graph } from "../definition/graph.ts";
import { isGlueType } from "../definition/node-types.ts";
import { glueTask, type GlueTask } from "../glue/task.ts";
import { contextBytes, contextJson } from "../log/context.ts";
import { bodyAt, executionAt, executionDefinition, partOf } from "../log/execution.ts";
import type { Fact } from "../log/event.ts";
import { bindingsOf, nodeJson, nodeJsonIndex } from "../log/node-json.ts";
import type { RunState } from "../log/state.ts";
import type { PriceOf } from "../policy/price.ts";
import { outcomeFacts } from "./result.ts";
import { arrivedFacts, type CheckPayload } from "./signal.ts";

/** The budget of a tick for glue nodes, and what else the planner knows from outside of the log. */
export interface InlineBudget {
  /** The prices by which it reserves the cost of models. */
  readonly priceOf?: PriceOf | undefined;
  /** Whether the scheduler completes nodes of this type itself: their queue is not paused. */
  readonly mayComplete: (type: string) => boolean;
  /** Checks the payload of a signal that came before its node was ready. */
  readonly checkPayload?: CheckPayload;
  bytes: number;
}

/** Completes nothing: every execution is queued. */
export const NO_INLINE: InlineBudget = { mayComplete: () => false, bytes: 0 };

/** One round of the planner. */
export interface Round {
  readonly state: RunState;
  readonly now: number;
  readonly budget: InlineBudget;
  /** The request ids of the signals that the facts of this round take. The fold does not know these facts yet. */
  taken?: Set<string>;
}

/** `ownBytes` is the size of its definition. */
type InlineTask = GlueTask & { readonly ownBytes: number };

const tasks = new WeakMap<Graph, Map<number, InlineTask | null>>();

/**
 * The facts that complete a ready execution, or undefined if the execution must be queued. They spend the budget. Only a tool call of an
 * agent that writes the memory has more than one.
 */
export function inlineFacts(
  round: Round,
  nodeIndex: number,
  iteration: number,
): readonly Fact[] | undefined {
  const { state, now, budget } = round;
  if (!fitsInline(state, nodeIndex, iteration, budget)) return undefined;
  const task = inlineTask(state, nodeIndex, iteration);
  const cost = costOf(state, nodeIndex, iteration);
  if (task === null || cost > budget.bytes) return undefined;
  budget.bytes -= cost;
  const ended = task.complete(() => contextJson(state, nodeIndex, iteration));
  const outcome = { ...ended, durationMs: 0 };
  // No executor reports here, so the epoch is 0. A glue failure is never retried, so the jitter does not matter.
  const landing = { nodeIndex, iteration, epoch: 0, jitter: 1, now };
  const facts =
    outcome.kind === "awaiting"
      ? arrivedFacts(
          state,
          { ...landing, outcome },
          budget.checkPayload,
          (round.taken ??= new Set()),
        )
      : outcomeFacts(state, { ...landing, outcome });
  budget.bytes -= facts[0]?.value?.length ?? 0;
  const attempt = Math.max(1, executionAt(state, nodeIndex, iteration)?.attempt ?? 0);
  return facts.map((fact) => ({ ...fact, attempt }));
}

/** Whether this tick or a later one completes the execution without an executor. */
export function fitsInline(
  state: RunState,
  nodeIndex: number,
  iteration: number,
  { mayComplete }: Pick<InlineBudget, "mayComplete">,
): boolean {
  const { type } = executionDefinition(state, nodeIndex, iteration);
  if (!isInlineKind(state, nodeIndex, iteration) || !mayComplete(type)) return false;
  if (costOf(state, nodeIndex, iteration) > LIMITS.inlineBytes) return false;
  return !readsStored(state, nodeIndex, iteration);
}

/** Whether the context names a value that is stored outside of the log. The planner has no values, so an executor completes the node. */
function readsStored(state: RunState, nodeIndex: number, iteration: number): boolean {
  if (!state.hasReferences) return false;
  const task = inlineTask(state, nodeIndex, iteration);
  return task?.readsContext === true && hasReference(contextJson(state, nodeIndex, iteration));
}

/**
 * Whether the definition lets the scheduler complete the execution. Executors check contracts and moderation, and an execution with limits
 * waits for its slots in the queue.
 */
export const isInlineKind = (state: RunState, nodeIndex: number, iteration: number): boolean =>
  inlineTask(state, nodeIndex, iteration) !== null;

function costOf(state: RunState, nodeIndex: number, iteration: number): number {
  const task = inlineTask(state, nodeIndex, iteration);
  if (task === null) return Infinity;
  if (!task.readsContext && task.passes === 1) return LIMITS.inlineBytesMin;
  const read = task.readsContext ? contextBytes(state, nodeIndex, iteration) : 0;
  return LIMITS.inlineBytesMin + (task.ownBytes + read) * task.passes;
}

function inlineTask(state: RunState, nodeIndex: number, iteration: number): InlineTask | null {
  const { graph } = state;
  let made = tasks.get(graph);
  if (made === undefined) tasks.set(graph, (made = new Map()));
  const at = nodeJsonIndex(nodeIndex, partOf(state, nodeIndex, iteration));
  let task = made.get(at);
  if (task === undefined) made.set(at, (task = makeTask(state, nodeIndex, iteration)));
  return task;
}

function makeTask(state: RunState, nodeIndex: number, iteration: number): InlineTask | null {
  const { graph } = state;
  const part = partOf(state, nodeIndex, iteration);
  const isBody = part === "body" || typeof part === "number";
  const node = graph.nodes[nodeIndex]?.definition;
  const { type, config } = executionDefinition(state, nodeIndex, iteration);
  if (node === undefined || !isGlueType(type) || node.moderation !== "none") return null;
  const { scope, contracts, concurrency, rate, merge, onParentFailure } = node;
  // Limits of a map or a loop apply to its iterations, contracts to the node as a whole.
  const hasLimits = (concurrency !== null || rate !== null) && typeof part !== "number";
  if (hasLimits && (scope === null || isBody)) return null;
  if (!isBody && (contracts.input !== null || contracts.output !== null)) return null;
  const readsParams = bodyAt(node, part)?.reads.params ?? true;
  const bindings = readsParams ? bindingsOf(graph, nodeIndex) : [];
  const until = isBody ? (scope?.until ?? null) : null;
  const task = glueTask({ type, config, merge, onParentFailure, bindings, until });
  return { ...task, ownBytes: nodeJson(graph, nodeIndex, part).length };
}
