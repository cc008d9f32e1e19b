// The reason why a live run waits, in one line. So a run shows, for example, that no executor serves its node.

import { isFinal, type NodeStatus } from "../log/event.ts";
import type { RunState } from "../log/state.ts";
import { isUndo, undoOf } from "../log/undo-iteration.ts";
import { nodeIdAt, openIterations } from "../plan/place.ts";
import { explainNode } from "./explain.ts";
import { pausedText } from "./paused.ts";
import type { Proofs } from "./proofs.ts";
import type { ExplainReason } from "./reason.ts";
import type { SlotQuestion, WaitingRoom } from "./room.ts";
import { slotsOfExecution, slotsOfRun } from "./slot-wait.ts";
import { pendingAnswer } from "./thread-wait.ts";
import type { LimitOwner } from "../policy/limit.ts";

/** Causes that a person can change come first. The last ones count only if no node of the run is at work. */
const WORTH_SAYING: readonly ExplainReason[] = [
  "QUEUE_PAUSED",
  "NO_EXECUTOR",
  "WAITING_PERSON",
  "WAITING_SIGNAL",
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
  "WAITING_SIGNAL",
]);
/** How many nodes are examined. A wide graph has many that wait for the same thing. */
const LOOKED_AT_MAX = 200;
/** How many waits for slots are examined for one run, because they are much the same. */
const SLOTS_ASKED_MAX = 20;

const HELD: ReadonlySet<NodeStatus> = new Set(["queued", "retrying", "running", "waiting"]);

/** The executions that may explain the wait: neither pending nor settled. One live iteration represents all of a map. */
export function heldNodes(state: RunState): Looked[] {
  const nodes = state.nodes.flatMap(({ status, base }, nodeIndex) => {
    const [iteration = base] = HELD.has(status) ? openIterations(state, nodeIndex) : [];
    return HELD.has(status) ? [{ nodeIndex, iteration }] : [];
  });
  const undos = [...state.undos.values()].flatMap(({ nodeIndex, iteration, status }) =>
    HELD.has(status) ? [{ nodeIndex, iteration: undoOf(iteration) }] : [],
  );
  return [...nodes, ...undos];
}

interface Looked {
  readonly nodeIndex: number;
  readonly iteration: number;
}

/** The question to the store about the slots of the run and its nodes. */
export const slotsToAsk = (state: RunState, owner: LimitOwner): SlotQuestion[] =>
  [
    ...slotsOfRun(state, owner),
    ...lookedAt(state).flatMap(({ nodeIndex, iteration }) =>
      slotsOfExecution(state, owner, nodeIndex, iteration),
    ),
  ].slice(0, SLOTS_ASKED_MAX);

const lookedAt = (state: RunState): Looked[] => heldNodes(state).slice(0, LOOKED_AT_MAX);

/** Why the run does not advance, for people. Empty while it advances, and after its end. */
export function waitingReason(question: {
  readonly state: RunState;
  readonly proofs: Proofs;
  readonly room: WaitingRoom;
}): string {
  const { state } = question;
  if (isFinal(state.status)) return "";
  const paused = pausedText(state);
  if (paused !== undefined) return paused;
  if (!state.isAdmitted)
    return (
      pendingAnswer(question.room, state)?.summary ??
      (state.daily === undefined ? "" : "It waits for the daily budget of its workflow.")
    );
  let best: { readonly rank: number; readonly text: string } | undefined;
  let isAtWork = false;
  for (const { nodeIndex, iteration } of lookedAt(state)) {
    const { reason, summary } = explainNode({ ...question, nodeIndex, iteration });
    if (reason === "RUNNING" || reason === "QUEUED") isAtWork = true;
    const rank = WORTH_SAYING.indexOf(reason);
    if (rank >= 0 && (best === undefined || rank < best.rank))
      best = { rank, text: `${wordsOf(state, nodeIndex, iteration)}: ${summary}` };
  }
  if (best === undefined) return "";
  const reason = WORTH_SAYING[best.rank];
  return isAtWork && (reason === undefined || !EVEN_WHILE_RUNNING.has(reason)) ? "" : best.text;
}

const wordsOf = (state: RunState, nodeIndex: number, iteration: number): string =>
  `${isUndo(iteration) ? "the compensation of " : ""}node ${nodeIdAt(state, nodeIndex)}`;
