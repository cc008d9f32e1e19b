// What a live run waits for, in one line: so that a run whose node nobody serves says so itself, and does not wait in silence.

import { isFinal } from "../log/event.ts";
import type { RunState } from "../log/state.ts";
import { nodeIdAt, nodeStateAt } from "../plan/place.ts";
import { openIterations } from "../plan/scope.ts";
import { explainNode } from "./explain.ts";
import { limitText } from "./queued.ts";
import { pausedText } from "./paused.ts";
import type { Proofs } from "./proofs.ts";
import type { ExplainReason } from "./reason.ts";
import type { WaitingRoom } from "./room.ts";

/** What a person can do something about comes first. The last ones only count when nothing of the run is at work. */
const WORTH_SAYING: readonly ExplainReason[] = [
  "NO_EXECUTOR",
  "WAITING_PERSON",
  "WAITING_CHILD_RUN",
  "BLOCKED",
  "EXECUTORS_FULL",
  "LEASE_LOST",
  "BACKOFF",
  "DELAYED",
];
const EVEN_WHILE_RUNNING: ReadonlySet<ExplainReason> = new Set(["NO_EXECUTOR", "WAITING_PERSON"]);
/** Nodes looked at; a wide graph has many that wait for the same thing. */
const LOOKED_AT_MAX = 200;

/** The nodes that may have something to say: neither pending nor settled. */
export const heldNodes = (state: RunState): number[] =>
  state.nodes.flatMap(({ status }, index) =>
    status === "queued" || status === "retrying" || status === "running" || status === "waiting"
      ? [index]
      : [],
  );

/** Why the run does not get on, for people; empty while it does, and once it is over. */
export function waitingReason(question: {
  readonly state: RunState;
  readonly proofs: Proofs;
  readonly room: WaitingRoom;
}): string {
  const { state } = question;
  if (isFinal(state.status)) return "";
  const paused = pausedText(state);
  if (paused !== undefined) return paused;
  if (!state.isAdmitted) return limitText(state) ?? "";
  let best: { readonly rank: number; readonly text: string } | undefined;
  let isAtWork = false;
  for (const nodeIndex of heldNodes(state).slice(0, LOOKED_AT_MAX)) {
    // A map gets on as its iterations do; one of those under way stands for all.
    const [iteration = 0] = openIterations(nodeStateAt(state, nodeIndex));
    const { reason, summary } = explainNode({ ...question, nodeIndex, iteration });
    if (reason === "RUNNING" || reason === "QUEUED") isAtWork = true;
    const rank = WORTH_SAYING.indexOf(reason);
    if (rank >= 0 && (best === undefined || rank < best.rank))
      best = { rank, text: `node ${nodeIdAt(state, nodeIndex)}: ${summary}` };
  }
  if (best === undefined) return "";
  const reason = WORTH_SAYING[best.rank];
  return isAtWork && (reason === undefined || !EVEN_WHILE_RUNNING.has(reason)) ? "" : best.text;
}
