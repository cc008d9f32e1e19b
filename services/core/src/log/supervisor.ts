// The history of supervisors. A supervisor completes with the route as its handle, and with the route and the reason in its output. So a
// decision needs no event of its own.

import { LIMITS } from "../data/limits.ts";
import { splitObject } from "../data/split-array.ts";
import type { NodeDefinition } from "../definition/shape.ts";
import type { LoggedFact } from "./event.ts";
import type { NodeState, RunState } from "./state.ts";

type Logged = Pick<LoggedFact, "seq" | "at">;

/** Adds the decision of a supervisor that has just completed. */
export function noteDecision(state: RunState, index: number, node: NodeState, event: Logged): void {
  const { id: nodeId, type } = state.graph.nodes[index]?.definition ?? {};
  const { handle: route, base: iteration } = node;
  if (type !== "supervisor" || nodeId === undefined) return;
  if (route === undefined || route === "error") return;
  const reason = reasonIn(node.output ?? "");
  const { seq, at } = event;
  const { taint } = node;
  state.supervisorHistory.push({ nodeId, iteration, route, reason, taint, seq, at });
}

/** The reason in the output `{"route", "reason"}`. A handler of a user may have given another output. */
function reasonIn(output: string): string {
  if (!output.startsWith("{")) return "";
  const reason: unknown = JSON.parse(splitObject(output).get("reason") ?? '""');
  return typeof reason === "string"
    ? reason.slice(0, LIMITS.decisionReasonLength).toWellFormed()
    : "";
}

/** The newest decisions of a supervisor as a member of its context. Its model reads them. */
export function decisionsPart(
  { supervisorHistory }: RunState,
  { id, type }: NodeDefinition,
): string {
  if (type !== "supervisor") return "";
  const own = supervisorHistory.filter(({ nodeId }) => nodeId === id).slice(-LIMITS.decisionsRead);
  return `,"decisions":${JSON.stringify(own.map(({ route, reason }) => ({ route, reason })))}`;
}

/** A reason is escaped at most sixfold; a frame and the name of the route surround it. */
const DECISION_BYTES = LIMITS.decisionReasonLength * 6 + 512;

/** An upper bound of its bytes. */
export const decisionsBytes = ({ supervisorHistory }: RunState, { type }: NodeDefinition): number =>
  type === "supervisor"
    ? 64 + Math.min(LIMITS.decisionsRead, supervisorHistory.length) * DECISION_BYTES
    : 0;
