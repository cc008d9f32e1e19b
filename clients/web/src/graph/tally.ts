// How many nodes of a group have which look, most telling first. Pure.

import type { Look, Looks } from "../run/looks.ts";
import type { DrawnNode } from "./definition.ts";

export interface Count {
  readonly look: Look;
  readonly count: number;
}

/** What a reader wants to see first. */
const ORDER: readonly Look[] = [
  "failed",
  "timed_out",
  "handled",
  "running",
  "retrying",
  "waiting",
  "queued",
  "completed",
  "pending",
  "cancelled",
  "not_run",
  "skipped",
];
const rank = (look: Look): number => (ORDER.includes(look) ? ORDER.indexOf(look) : ORDER.length);

const lookAt = (looks: Looks, { id }: DrawnNode): Look => looks.get(id)?.look ?? "pending";

/** The looks of nodes, counted. */
export function tally(nodes: readonly DrawnNode[], looks: Looks): readonly Count[] {
  const counts = new Map<Look, number>();
  for (const node of nodes) {
    const look = lookAt(looks, node);
    counts.set(look, (counts.get(look) ?? 0) + 1);
  }
  return Array.from(counts, ([look, count]) => ({ look, count })).toSorted(
    (one, other) => rank(one.look) - rank(other.look),
  );
}

/** Nodes in the order in which a reader wants to see them; equals as the definition has them. */
export const byUrgency = (nodes: readonly DrawnNode[], looks: Looks): readonly DrawnNode[] =>
  nodes.toSorted((one, other) => rank(lookAt(looks, one)) - rank(lookAt(looks, other)));
