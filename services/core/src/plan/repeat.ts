// Running nodes again. A node that left by a loop edge, or with a goto or a handoff, makes its target run next. If the target is pending, it
// runs at once. Otherwise the planner ends its round, and the rounds of all nodes that were decided on it. It cancels those that are not
// settled, so their executors are fenced off. Then it invalidates all of them. One commit has all of it.
//
// Two nodes may jump in one commit. The planner follows the jumps in log order. A jump from a round that an earlier jump ended is void.

import type { Action } from "../action/kinds.ts";
import type { GraphEdge } from "../definition/graph.ts";
import { edgeEffect } from "../log/edge-effect.ts";
import { isSettled, type Fact, type Goto } from "../log/event.ts";
import { isItem } from "../log/execution.ts";
import type { JumpState } from "../log/jump-state.ts";
import type { RunState } from "../log/state.ts";
import { nodeId } from "../name/ids.ts";
import { firesEarly } from "./join.ts";
import { graphNodeAt, nodeIdAt, nodeStateAt, placeAt } from "./place.ts";
import { cancelFacts } from "./cancel.ts";
import { failRepeating } from "./stop.ts";

type Jumped =
  | { readonly kind: "facts"; readonly facts: Fact[] }
  /** The target was not decided yet, so nothing has to be taken back. */
  | { readonly kind: "run"; readonly target: number };

/** Follows the first jump, or fails a run that repeats too often. */
export function followJump(state: RunState, now: number): Jumped {
  const { jumps, iterationCount, maxIterations, lastJumpNode = 0 } = state;
  if (iterationCount > maxIterations)
    return facts(
      failRepeating(state, lastJumpNode, `the run may repeat ${times(maxIterations)}`, now),
    );
  const [jump] = jumps;
  if (jump === undefined) return facts([]);
  const target = nodeStateAt(state, jump.target);
  if (target.status === "pending") {
    // The fold sets the same entry when it reads the first event of the target.
    target.entry = jump.entry;
    return { kind: "run", target: jump.target };
  }
  const nodes = superseded(state, jump.target);
  const excess = excessOf(state, jump, nodes);
  if (excess !== undefined) return facts(failRepeating(state, jump.entry.source, excess, now));
  const reason = `${nodeIdAt(state, jump.entry.source)} leads back to ${nodeIdAt(state, jump.target)}`;
  return facts([
    ...nodes.flatMap((index) =>
      isSettled(nodeStateAt(state, index).status) ? [] : cancelFacts(state, index, reason),
    ),
    // The target comes last: the fold ends the jump with it.
    ...nodes.toReversed().map((index) => invalidatedFact(state, index, jump.reason)),
  ]);
}

const facts = (made: Fact[]): Jumped => ({ kind: "facts", facts: made });

const times = (count: number): string => (count === 1 ? "once" : `${count} times`);

const invalidatedFact = (state: RunState, index: number, reason: string): Fact => ({
  ...placeAt(state, index),
  type: "node.invalidated",
  payload: { reason },
});

/** The target, and every node behind it that was decided on it. A join that fired without it keeps its result. */
function superseded(state: RunState, target: number): number[] {
  const found = new Set([target]);
  for (const index of found) {
    for (const edge of graphNodeAt(state, index).outgoing)
      if (wasDecidedOn(state, edge)) found.add(edge.target);
  }
  return [...found];
}

/**
 * Whether the target of an edge was decided on its source. It was not if the target is pending, if the source is not settled, or if the
 * target fired early by other edges than this one.
 */
function wasDecidedOn(state: RunState, edge: GraphEdge): boolean {
  const source = nodeStateAt(state, edge.source);
  const target = nodeStateAt(state, edge.target);
  if (target.status === "pending" || !isSettled(source.status)) return false;
  return (
    edgeEffect(source, edge) === "taken" || !firesEarly(graphNodeAt(state, edge.target), target)
  );
}

/** Which bound of a loop edge or of a node the jump would exceed. */
function excessOf(
  state: RunState,
  { target, loop }: JumpState,
  nodes: readonly number[],
): string | undefined {
  if (loop !== undefined) {
    const max = graphNodeAt(state, target).reentries[loop]?.definition.maxIterations ?? Infinity;
    const taken = nodeStateAt(state, target).repeats?.[loop] ?? 0;
    if (taken >= max)
      return `its loop edge to ${nodeIdAt(state, target)} may be taken ${times(max)}`;
  }
  for (const index of nodes) {
    const max = graphNodeAt(state, index).definition.maxIterations ?? Infinity;
    if (nodeStateAt(state, index).round + 1 >= max)
      return `node ${nodeIdAt(state, index)} may run ${times(max)}`;
  }
  return undefined;
}

/** The jump that the actions ask for. An outcome has at most one. */
export function askedGoto(actions: readonly Action[]): Goto | undefined {
  for (const action of actions) {
    if (action.type === "goto_node")
      return { nodeId: nodeId(action.node), kind: "goto", reason: action.reason };
    if (action.type === "handoff" && action.node !== "")
      return { nodeId: nodeId(action.node), kind: "handoff", reason: action.reason };
  }
  return undefined;
}

/** At most so many node ids are in a message. */
const NAMED_MAX = 20;

/** Why a node cannot lead to the node that it names; undefined if it can. */
export function gotoFault(
  state: RunState,
  { nodeIndex, iteration }: { readonly nodeIndex: number; readonly iteration: number },
  { nodeId: to, kind }: Goto,
): string | undefined {
  const { nodes, indexOf } = state.graph;
  if (isItem(state, nodeIndex, iteration))
    return `${kind}: an iteration of a map or a loop, or a compensation, cannot lead to another node`;
  const target = indexOf.get(to);
  if (target !== undefined && nodes[target]?.definition.type !== "start") return undefined;
  const known = nodes.flatMap(({ definition: { id, type } }) => (type === "start" ? [] : [id]));
  const more = known.length > NAMED_MAX ? `, and ${known.length - NAMED_MAX} more` : "";
  const what = target === undefined ? "there is no such node" : "no node may lead to the start";
  return `${kind} ${to.slice(0, 128)}: ${what}; the nodes are ${known.slice(0, NAMED_MAX).join(", ")}${more}`;
}
