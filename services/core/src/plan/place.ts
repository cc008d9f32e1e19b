// Where a fact belongs: the ids and numbers every event carries beside its payload.

import type { GraphNode } from "../definition/graph.ts";
import { invariant } from "../fault/invariant.ts";
import type { EventPlace } from "../log/event.ts";
import type { NodeState, RunState } from "../log/state.ts";
import type { NodeId } from "../name/ids.ts";

/** The place of facts about the run itself. */
export const RUN_PLACE: EventPlace = { nodeId: "", iteration: 0, attempt: 0, epoch: 0 };

/** The node's part of the graph. */
export function graphNodeAt(state: RunState, index: number): GraphNode {
  const node = state.graph.nodes[index];
  invariant(node !== undefined, `node ${index} is in the graph`);
  return node;
}

/** The node's part of the state. */
export function nodeStateAt(state: RunState, index: number): NodeState {
  const node = state.nodes[index];
  invariant(node !== undefined, `node ${index} is in the state`);
  return node;
}

/** The node's id. */
export const nodeIdAt = (state: RunState, index: number): NodeId =>
  graphNodeAt(state, index).definition.id;
