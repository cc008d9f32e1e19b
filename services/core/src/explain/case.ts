// One question about one node execution, with all data that an answer may use.

import type { GraphNode } from "../definition/graph.ts";
import type { NodeState, RunState } from "../log/state.ts";
import type { PriceOf } from "../policy/price.ts";
import { nodeIdAt, nodeStateAt } from "../plan/place.ts";
import type { Cited, Proofs } from "./proofs.ts";
import type { Evidence, Explanation } from "./reason.ts";
import type { WaitingRoom } from "./room.ts";

export interface Case {
  readonly state: RunState;
  readonly proofs: Proofs;
  readonly room: WaitingRoom;
  /** The prices by which the planner reserves. */
  readonly priceOf?: PriceOf;
  readonly node: GraphNode;
  readonly nodeIndex: number;
  readonly nodeState: NodeState;
  readonly iteration: number;
  readonly workflowId?: string | undefined;
}

/** The answer for one kind of state. The caller adds the status. */
export type Answer = Omit<Explanation, "status" | "evidence" | "sinceAt"> & {
  readonly evidence?: readonly (Cited | undefined)[];
  /** The event that began this state, if it is known: more evidence. */
  readonly since?: Cited | undefined;
};

/** The node's own newest event of one of these types. */
export const own = (
  { proofs, node, iteration }: Case,
  ...types: Parameters<Proofs["newest"]>[2][]
): Cited | undefined => proofs.newest(node.definition.id, iteration, ...types);

/** The newest event of one of these types about the present round of a node. */
export const ofNode = (
  { proofs, state }: Case,
  nodeIndex: number,
  ...types: Parameters<Proofs["newest"]>[2][]
): Cited | undefined =>
  proofs.newest(nodeIdAt(state, nodeIndex), nodeStateAt(state, nodeIndex).base, ...types);

/** Evidence in order of seq, each event once. Undefined entries are left out. */
export function cite(cited: readonly (Cited | undefined)[]): Evidence[] {
  const bySeq = new Map<number, Evidence>();
  for (const each of cited) {
    if (each === undefined) continue;
    const { seq, type, nodeId } = each;
    bySeq.set(seq, { seq, type, nodeId });
  }
  return [...bySeq.values()].toSorted((a, b) => a.seq - b.seq);
}

/** A text of an event's payload, or `otherwise` if it has none. */
export function textOf(event: Cited | undefined, key: string, otherwise = ""): string {
  const value = event?.payload[key];
  return typeof value === "string" ? value : otherwise;
}
