// Pausing and resuming a run. While a run is paused, the scheduler plans, queues and claims none of its nodes. Executors keep running the
// nodes that they hold, and the scheduler records their results. A repeated command changes nothing.
//
// A user may pause a run and its workflow. A run that a user paused itself stays paused when its workflow is resumed. So the log records a
// second pause if a user pauses a run that its workflow has already paused.

import { movedDeadline } from "../log/clock.ts";
import { isFinal, type Fact, type PauseNote } from "../log/event.ts";
import { executionsOf } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import { RUN_PLACE } from "./place.ts";

type PauseResult =
  | { readonly kind: "accepted"; readonly facts: Fact[] }
  /** The run is already paused, or already not paused. */
  | { readonly kind: "repeated" }
  /** Its workflow is paused: resume the workflow. */
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

/** The facts of a resumption. The planner adds the next facts. */
export function onResume(state: RunState, note: PauseNote, now: number): PauseResult {
  const { status: from, pause } = state;
  if (isFinal(from)) return { kind: "finished" };
  if (pause === undefined) return { kind: "repeated" };
  if (pause.scope !== note.scope)
    return { kind: note.scope === "run" ? "held_by_workflow" : "repeated" };
  // A run that had not started waits for its slot again.
  const live = state.ending === undefined ? "running" : "compensating";
  const to = state.isAdmitted ? live : "pending";
  const payload = { from, to, ...movedDeadline(state, now), ...note } as const;
  return { kind: "accepted", facts: [{ ...RUN_PLACE, type: "run.status.changed", payload }] };
}

/** The executions that are queued. */
export const queuedExecutions = (
  state: RunState,
): { readonly nodeIndex: number; readonly iteration: number }[] =>
  [...executionsOf(state)].flatMap(([nodeIndex, iteration, { status }]) =>
    status === "queued" ? [{ nodeIndex, iteration }] : [],
  );
