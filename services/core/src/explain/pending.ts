// Explains why a node is not ready: its parents, or a run that is held back.

import { isSettled, type EventType } from "../log/event.ts";
import type { Join } from "../definition/shape.ts";
import { nodeIdAt } from "../plan/place.ts";
import { type Answer, type Case, ofNode } from "./case.ts";
import { budgetAnswer } from "./budget-wait.ts";
import { listText } from "./words.ts";

/** The state of an unsettled parent, by its newest event. */
const STANDING: readonly EventType[] = [
  "node.queued",
  "node.started",
  "node.retried",
  "node.blocked",
  "run.recovered",
];

/** A node whose join is not decided. */
export function explainPending(asked: Case): Answer {
  const { state, node } = asked;
  const sources = [...new Set(node.incoming.map((edge) => edge.source))];
  const open = sources.filter((source) => !isSettled(state.nodes[source]?.status ?? "pending"));
  const short = budgetAnswer(asked);
  if (short !== undefined) return short;
  if (open.length === 0) return deciding(asked);
  const parents = open.map((source) => ({
    id: nodeIdAt(state, source),
    status: state.nodes[source]?.status ?? "pending",
  }));
  const said = parents.map(({ id, status }) => `${id} (${status})`);
  const [first] = parents;
  return {
    reason: "WAITING_PARENTS",
    summary: `It waits for ${joinText(node.definition.join, sources.length)}: not settled yet ${open.length === 1 ? "is" : "are"} ${listText(said)}.`,
    evidence: open.map((source) => ofNode(asked, source, ...STANDING)),
    next: `Nothing to do here; ask why ${first?.id ?? "its parent"} is not settled.`,
  };
}

/** The moment between an event and the next tick. */
function deciding(asked: Case): Answer {
  const { proofs, node } = asked;
  const parents = node.incoming.map((edge) => edge.source);
  return {
    reason: "DECIDING",
    summary: "Everything it waits for is settled; the scheduler decides about it next.",
    evidence: [
      proofs.newest("", 0, "run.started"),
      ...parents.map((source) => ofNode(asked, source, "node.completed", "node.skipped")),
    ],
    next: "Ask again in a moment; if it stays so, see whether a scheduler is running.",
  };
}

function joinText(join: Join, parentCount: number): string {
  if (join.mode === "n_of_m") return `${join.n} of its ${parentCount} parents`;
  if (join.mode === "any") return `any of its ${parentCount} parents`;
  return parentCount === 1 ? "its parent" : `all of its ${parentCount} parents`;
}
