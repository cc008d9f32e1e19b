// Pausing and resuming a run. While it is paused nothing of it is planned, queued or claimed; what runs goes on, and what it
// reports is recorded. Saying either twice changes nothing.
//
// A run may be held by itself and by its workflow. One that was paused by hand stays paused when its workflow is resumed, so a
// pause by hand on top of a workflow's is said in the log once more, as held by its own.

import { movedDeadline } from "../log/clock.ts";
import { isFinal, type Fact, type PauseNote } from "../log/event.ts";
import type { ExecutionState, RunState } from "../log/state.ts";
import { RUN_PLACE } from "./place.ts";

export type PauseResult =
  | { readonly kind: "accepted"; readonly facts: Fact[] }
  /** It stands so already. */
  | { readonly kind: "repeated" }
  /** Its workflow is paused; that is to be resumed. */
  | { readonly kind: "held_by_workflow" }
  | { readonly kind: "finished" };

/** The facts of a pause. */
export function onPause(state: RunState, note: PauseNote): PauseResult {
  const { status: from, pause } = state;
  if (isFinal(from)) return { kind: "finished" };
  if (pause !== undefined && (pause.scope === "run" || note.scope === "workflow"))
    return { kind: "repeated" };
  const payload = { from, to: "paused", ...note } as const;
  return { kind: "accepted", facts: [{ ...RUN_PLACE, type: "run.status.changed", payload }] };
}

/** The facts of a resumption; what follows is the planner's. */
export function onResume(state: RunState, note: PauseNote, now: number): PauseResult {
  const { status: from, pause } = state;
  if (isFinal(from)) return { kind: "finished" };
  if (pause === undefined) return { kind: "repeated" };
  if (pause.scope !== note.scope)
    return { kind: note.scope === "run" ? "held_by_workflow" : "repeated" };
  // One that had not begun waits for its turn again.
  const to = state.isAdmitted ? "running" : "pending";
  const payload = { from, to, ...movedDeadline(state, now), ...note } as const;
  return { kind: "accepted", facts: [{ ...RUN_PLACE, type: "run.status.changed", payload }] };
}

/** Executions that wait to be claimed. */
export function queuedExecutions(
  state: RunState,
): { readonly nodeIndex: number; readonly iteration: number }[] {
  const isQueued = ({ status }: ExecutionState): boolean => status === "queued";
  return state.nodes.flatMap((node, nodeIndex) => {
    const items = (node.scope?.items ?? []).flatMap((item, at) =>
      isQueued(item) ? [{ nodeIndex, iteration: at + 1 }] : [],
    );
    return isQueued(node) ? [{ nodeIndex, iteration: 0 }, ...items] : items;
  });
}
