// Rounds: what the fold does where a node runs again. A node that completes by a loop edge, with a goto or with a handoff asks for a jump.
// The planner follows it (`plan/repeat.ts`): it ends the rounds of the target and of the nodes that were decided on it, each by
// `node.invalidated`. The node is then pending again, under new iterations. Its join counters stay, because they count its parents; the
// counters of its children lose what it had added.

import type { GraphNode } from "../definition/graph.ts";
import { edgeEffect } from "./edge-effect.ts";
import type { FactOf, Goto } from "./event.ts";
import { executionDefinition } from "./execution.ts";
import type { JumpState, KeptOutput } from "./jump-state.ts";
import { newNodeState, type NodeState, type RunState } from "./state.ts";

/** Notes the jump of a node that has just completed, if it asks for one. */
export function noteJump(state: RunState, index: number, node: NodeState, goto?: Goto): void {
  const graphNode = state.graph.nodes[index];
  if (graphNode === undefined) return;
  const way = goto === undefined ? loopOf(state, graphNode, node) : gotoOf(state, goto);
  if (way === undefined) return;
  const { handle, output = "null", outputBytes, releaseAt, taint } = node;
  const entry = { source: index, handle, output, outputBytes, releaseAt, taint };
  state.jumps = [...state.jumps, { ...way, entry }];
  state.iterationCount++;
  state.lastJumpNode = index;
}

/** Counts a handoff to a workflow: a child run of a node that is no subworkflow. It ends no round, so nothing follows but the check of the bound. */
export function noteHandoff(
  state: RunState,
  index: number,
  { iteration, payload }: FactOf<"node.blocked">,
): void {
  if (payload.childRunId === undefined) return;
  if (executionDefinition(state, index, iteration).type === "subworkflow") return;
  state.iterationCount++;
  state.workflowHandoffs++;
  state.lastJumpNode = index;
}

type Way = Omit<JumpState, "entry">;

function gotoOf({ graph }: RunState, { nodeId, kind, reason }: Goto): Way | undefined {
  const target = graph.indexOf.get(nodeId);
  if (target === undefined) return undefined;
  return { target, loop: undefined, reason: reason === "" ? kind : `${kind}: ${reason}` };
}

/** The loop edge of the handle by which a node left. Most nodes have no loop edges. */
function loopOf({ graph }: RunState, { loops }: GraphNode, { handle }: NodeState): Way | undefined {
  if (loops.length === 0) return undefined;
  // A loop edge to a supervisor may have no handle. The other edges have precedence.
  const edge =
    loops.find((each) => each.handle === handle) ??
    loops.find((each) => each.handle === null && handle !== "error");
  if (edge === undefined) return undefined;
  const loop = graph.nodes[edge.target]?.reentries.indexOf(edge);
  return { target: edge.target, loop, reason: "loop" };
}

/** Ends the round of a settled node and begins the next. */
export function beginRound(state: RunState, index: number, node: NodeState): void {
  for (const edge of state.graph.nodes[index]?.outgoing ?? []) {
    const child = state.nodes[edge.target];
    if (child === undefined) continue;
    const effect = edgeEffect(node, edge);
    child.settledParents--;
    if (effect === "taken") child.takenParents--;
    if (effect === "failed") child.failedParents--;
  }
  // A later jump of the same commit may have begun in the round that ends here. It is void.
  state.jumps = state.jumps.filter(({ entry }, at) => at === 0 || entry.source !== index);
  const { base, round, repeats, scope, ledger, settledParents, takenParents, failedParents } = node;
  Object.assign(node, newNodeState(), {
    ...{ base: base + 1 + (scope?.width ?? 0), round: round + 1, ledger },
    ...{ settledParents, takenParents, failedParents, kept: keptOf(state, index, node) },
  });
  if (state.firstFailedNode === index) state.firstFailedNode = firstFailed(state);
  state.unsettledCount++;
  state.firedJoins.delete(index);
  state.retries.delete(index);
  state.frontier.add(index);
  enter(state, index, node, repeats);
}

/** The first jump reaches its target, a pending node: the node runs next, whatever its join. */
export function enter(
  state: RunState,
  index: number,
  node: NodeState,
  repeats = node.repeats,
): void {
  const [jump, ...later] = state.jumps;
  if (jump?.target !== index) return;
  state.jumps = later;
  node.entry = jump.entry;
  if (jump.loop !== undefined) node.repeats = countedUp(repeats, jump.loop);
}

function countedUp(counts: readonly number[] = [], at: number): readonly number[] {
  const length = Math.max(counts.length, at + 1);
  return Array.from({ length }, (_, each) => (counts[each] ?? 0) + (each === at ? 1 : 0));
}

/** A variable keeps its value until its node completes again: so the rounds of a loop pass values on. */
function keptOf({ graph }: RunState, index: number, node: NodeState): KeptOutput | undefined {
  const { output, outputBytes, kept, taint } = node;
  if ((graph.nodes[index]?.definition.outputVariable ?? null) === null) return undefined;
  return output === undefined ? kept : { output, outputBytes, taint };
}

/** The node that failed first among those whose failure still counts. */
function firstFailed({ nodes }: RunState): number | undefined {
  let first: number | undefined;
  nodes.forEach(({ status, causeSeq }, index) => {
    if (status !== "failed" && status !== "timed_out") return;
    if (first === undefined || causeSeq < (nodes[first]?.causeSeq ?? 0)) first = index;
  });
  return first;
}
