// How many nodes of a group have which look, most urgent first, and the line that shows it.

import type { Look, Looks } from "../run/looks.ts";
import type { DrawnNode } from "@pawl/client";
import type { ReactNode } from "react";
import { StatusIcon, statusName } from "../ui/status-icon.tsx";

export interface Count {
  readonly look: Look;
  readonly count: number;
}

/** The most urgent look comes first. */
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
  const groups = Map.groupBy(nodes, (node) => lookAt(looks, node));
  return Array.from(groups, ([look, { length: count }]) => ({ look, count })).toSorted(
    (one, other) => rank(one.look) - rank(other.look),
  );
}

/** Nodes by urgency; nodes of one look in the order of the definition. */
export const byUrgency = (nodes: readonly DrawnNode[], looks: Looks): readonly DrawnNode[] =>
  nodes.toSorted((one, other) => rank(lookAt(looks, one)) - rank(lookAt(looks, other)));

export function TallyLine({ counts }: { readonly counts: readonly Count[] }): ReactNode {
  return (
    <span className="tally">
      {counts.map(({ look, count }) => (
        <span key={look} title={`${count} ${statusName(look)}`} data-tally={look}>
          <StatusIcon status={look} />
          {count}
          <span className="hidden"> {statusName(look)}</span>
        </span>
      ))}
    </span>
  );
}
