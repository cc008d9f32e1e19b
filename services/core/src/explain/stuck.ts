// What a live run waits for, in one line: so that a run whose node nobody serves says so itself, and does not wait in silence.

import { isFinal } from "../log/event.ts";
import type { RunState } from "../log/state.ts";
import { nodeIdAt, nodeStateAt } from "../plan/place.ts";
import { openIterations } from "../plan/scope.ts";
import { explainNode } from "./explain.ts";
import { pausedText } from "./paused.ts";
import type { Proofs } from "./proofs.ts";
import type { ExplainReason } from "./reason.ts";
import type { SlotQuestion, WaitingRoom } from "./room.ts";
import { slotAnswer, slotsOfExecution, slotsOfRun } from "./slot-wait.ts";
import type { GateOwner } from "../policy/gate.ts";

/** What a person can do something about comes first. The last ones only count when nothing of the run is at work. */
const WORTH_SAYING: readonly ExplainReason[] = [
  "QUEUE_PAUSED",
  "NO_EXECUTOR",
  "WAITING_PERSON",
  "WAITING_CHILD_RUN",
  "BLOCKED",
  "WAITING_SLOT",
  "WAITING_RATE",
  "EXECUTORS_FULL",
  "LEASE_LOST",
  "BACKOFF",
  "DELAYED",
];
const EVEN_WHILE_RUNNING: ReadonlySet<ExplainReason> = new Set([
  "QUEUE_PAUSED",
  "NO_EXECUTOR",
  "WAITING_PERSON",
]);
/** Nodes looked at; a wide graph has many that wait for the same thing. */
const LOOKED_AT_MAX = 200;
/** Lines asked about for one run: they are much the same. */
const SLOTS_ASKED_MAX = 20;

/** The nodes that may have something to say: neither pending nor settled. */
export const heldNodes = (state: RunState): number[] =>
  state.nodes.flatMap(({ status }, index) =>
    status === "queued" || status === "retrying" || status === "running" || status === "waiting"
      ? [index]
      : [],
  );

/** What to ask the store about the lines that the run and its nodes may stand in. */
export const slotsToAsk = (state: RunState, owner: GateOwner): SlotQuestion[] =>
  [
    ...slotsOfRun(state, owner),
    ...lookedAt(state).flatMap(({ nodeIndex, iteration }) =>
      slotsOfExecution(state, owner, nodeIndex, iteration),
    ),
  ].slice(0, SLOTS_ASKED_MAX);

/** A map gets on as its iterations do; one of those under way stands for all. */
const lookedAt = (state: RunState) =>
  heldNodes(state)
    .slice(0, LOOKED_AT_MAX)
    .map((nodeIndex) => {
      const [iteration = 0] = openIterations(nodeStateAt(state, nodeIndex));
      return { nodeIndex, iteration };
    });

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
  if (!state.isAdmitted) return slotAnswer(question.room, state)?.summary ?? "";
  let best: { readonly rank: number; readonly text: string } | undefined;
  let isAtWork = false;
  for (const { nodeIndex, iteration } of lookedAt(state)) {
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
