// Compensation: what undoes the completed nodes of a run before the run ends. The planner begins it in the commit in which the run would
// have ended. That commit cancels every other execution, so nothing new completes meanwhile. The terminal event comes after the last
// compensation.
//
// An execution is undone after everything that may have been decided on it. That is every node behind it that completed later, every later
// iteration of its loop, and everything that completed after a later jump. Other compensations run at once. A compensation that fails
// holds up no other: it stays in the list of what could not be undone, and becomes a dead letter.
//
// Races. A child run completes while its parent begins to be compensated: the node that waits for it completes, and is undone too. A client
// repeats the cancel that began the compensation: the request id shows the repeat, and nothing stops. Any other cancel stops it.

import { LIMITS } from "../data/limits.ts";
import {
  isSettled,
  type Compensated,
  type Ending,
  type Fact,
  type NodeStatus,
} from "../log/event.ts";
import { unreachable } from "../fault/invariant.ts";
import type { RunState } from "../log/state.ts";
import { undoOf } from "../log/undo-iteration.ts";
import type { UndoState } from "../log/undo-state.ts";
import type { CompensatedEnd } from "../policy/compensation.ts";
import { cancelUnlessUndone, cancelUnsettled, undoingChildren } from "./cancel.ts";
import { cancelFact, graphNodeAt, nodeIdAt, placeAt, queueFact, RUN_PLACE } from "./place.ts";

interface End {
  readonly ending: Ending;
  /** Why unsettled executions are cancelled. */
  readonly reason: string;
  readonly now: number;
  /** Whether to undo completed nodes first. The definition decides if absent. */
  readonly compensate?: boolean | undefined;
  /** The node whose completion, which the fold has not read yet, ends the run. */
  readonly completing?: number;
}

const KINDS: Readonly<Record<Exclude<Ending["end"], "completed">, CompensatedEnd>> = {
  failed: "failure",
  cancelled: "cancel",
  timeout: "timeout",
};

/** The facts that end a run early, or that begin its compensation. */
export function endRun(state: RunState, end: End): Fact[] {
  const { ending, reason, now } = end;
  if (!isCompensated(state, end))
    return [...cancelUnsettled(state, reason), endFact(state, ending)];
  const deadlineAt = now + state.graph.definition.compensationTimeoutMs;
  const payload = { from: state.status, to: "compensating", deadlineAt, ending } as const;
  return [
    ...cancelUnlessUndone(state, reason),
    { ...RUN_PLACE, type: "run.status.changed", payload },
  ];
}

function isCompensated(state: RunState, { ending, compensate, completing }: End): boolean {
  if (ending.end === "completed") return false;
  const { compensateOn } = state.graph.definition;
  if (!(compensate ?? compensateOn.has(KINDS[ending.end]))) return false;
  if (state.undos.size > 0 || undoingChildren(state).length > 0) return true;
  return (
    completing !== undefined && graphNodeAt(state, completing).definition.compensation !== undefined
  );
}

/** The next facts of a run that is compensated. */
export function decideUndo(state: RunState, ending: Ending, now: number): Fact[] {
  // A run that only undoes an execution of another run has no other executions.
  if (state.undoes === undefined && state.unsettledCount > 0) {
    if (undoingChildren(state).length > 0) return [];
    return cancelUnsettled(state, "the run is compensated");
  }
  const ready = readyUndos(state);
  if (ready.length > 0)
    return ready.map(({ nodeIndex, iteration }) =>
      queueFact(placeAt(state, nodeIndex, undoOf(iteration)), {
        releaseAt: 0,
        now,
        limits: undefined,
      }),
    );
  const isOver = state.undos.values().every(({ status }) => isSettled(status));
  return isOver ? [endFact(state, ending)] : [];
}

/** The pending compensations that wait for no other. */
function readyUndos(state: RunState): UndoState[] {
  const undos = [...state.undos.values()];
  const openAt = newestOpen(undos);
  if (openAt.size === 0) return [];
  const behind = newestBehind(state, openAt);
  const lastJump = undos.reduce(
    (last, { status, jumps }) => (isSettled(status) ? last : Math.max(last, jumps)),
    0,
  );
  const room = new Map<number, number>();
  for (const { nodeIndex, status } of undos)
    if (status !== "pending" && !isSettled(status)) take(state, room, nodeIndex);
  return undos.filter((undo, order) => {
    const { nodeIndex, status, jumps } = undo;
    if (status !== "pending" || jumps < lastJump || (behind.get(nodeIndex) ?? -1) > order)
      return false;
    const isInOrder = graphNodeAt(state, nodeIndex).definition.scope?.hasPrevious === true;
    if (isInOrder && (openAt.get(nodeIndex) ?? order) > order) return false;
    return take(state, room, nodeIndex);
  });
}

/** The place in the order of completion of the newest unsettled compensation of each node. */
function newestOpen(undos: readonly UndoState[]): ReadonlyMap<number, number> {
  const newest = new Map<number, number>();
  undos.forEach(({ nodeIndex, status }, order) => {
    if (!isSettled(status)) newest.set(nodeIndex, order);
  });
  return newest;
}

/** The same for all nodes behind each node. A node has a higher wave than every node before it. */
function newestBehind(
  { graph }: RunState,
  openAt: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  const behind = new Map<number, number>();
  for (const { index, outgoing } of graph.nodes.toSorted((a, b) => b.wave - a.wave)) {
    let newest = -1;
    for (const { target } of outgoing)
      newest = Math.max(newest, openAt.get(target) ?? -1, behind.get(target) ?? -1);
    if (newest >= 0) behind.set(index, newest);
  }
  return behind;
}

/** Takes one of the places of a node: a map undoes as many items at once as it runs. */
function take(state: RunState, room: Map<number, number>, nodeIndex: number): boolean {
  const all = graphNodeAt(state, nodeIndex).definition.scope?.parallelism ?? Infinity;
  const left = room.get(nodeIndex) ?? all;
  room.set(nodeIndex, left - 1);
  return left > 0;
}

/** The facts that stop a compensation. What is not undone stays so. */
export function stopUndoing(state: RunState, reason: string): Fact[] {
  const { ending } = state;
  if (ending === undefined) return [];
  const open = [...state.undos.values()].filter(({ status }) => !isSettled(status));
  return [
    ...(state.undoes === undefined ? cancelUnsettled(state, reason) : []),
    ...open.map(({ nodeIndex, iteration }) =>
      cancelFact(placeAt(state, nodeIndex, undoOf(iteration)), reason),
    ),
    endFact(state, ending, reason),
  ];
}

/** The terminal fact. `stopped` is why the compensations that are not settled are not done. */
function endFact(state: RunState, ending: Ending, stopped = ""): Fact {
  const done = state.ending === undefined ? {} : compensated(state, undefined, stopped);
  switch (ending.end) {
    case "failed": {
      const { end: _end, ...payload } = ending;
      return { ...RUN_PLACE, type: "run.failed", payload: { ...payload, ...done } };
    }
    case "cancelled": {
      const { end: _end, ...payload } = ending;
      return { ...RUN_PLACE, type: "run.cancelled", payload: { ...payload, ...done } };
    }
    case "timeout": {
      const { deadlineAt } = ending;
      return { ...RUN_PLACE, type: "run.timed_out", payload: { deadlineAt, ...done } };
    }
    case "completed":
      return undoRunEnd(state, done);
    default:
      return unreachable(ending, "end");
  }
}

/** The end of a run that only undoes an execution of another run. */
function undoRunEnd(state: RunState, done: Compensated): Fact {
  const [undo] = state.undos.values();
  if (undo?.status === "completed") {
    const payload = { hasFailures: false, ...done };
    return { ...RUN_PLACE, type: "run.completed", payload, value: undo.output ?? "null" };
  }
  const failedNodeId = state.undoes?.nodeId ?? "";
  const [left] = done.compensation?.named ?? [];
  const message = `${failedNodeId} could not be undone: ${left?.why ?? "the node has no compensation"}`;
  const payload = { failedNodeId, message, cause: "undo_failed", ...done };
  return { ...RUN_PLACE, type: "run.failed", payload };
}

/** What was undone, and what was not. `isOver` leaves out what may still be undone. */
export function compensated(
  state: RunState,
  isOver: (status: NodeStatus) => boolean = () => true,
  stopped = "",
): Compensated {
  const undos = [...state.undos.values()].filter(({ status }) => isOver(status));
  const left = undos.filter(({ status }) => status !== "completed");
  const named = left.slice(0, LIMITS.leftNamed).map(({ nodeIndex, iteration, message }) => ({
    nodeId: nodeIdAt(state, nodeIndex),
    iteration,
    why: (message ?? stopped).slice(0, LIMITS.labelLength),
  }));
  return { compensation: { undone: undos.length - left.length, left: left.length, named } };
}
