// Explains why a run that has not begun waits: first for its time, then for its thread, then for the slots of its workflow.

import type { RunState } from "../log/state.ts";
import { isoTime } from "../log/workflow-state-json.ts";
import { waitLeftMs } from "../policy/start-time.ts";
import type { Answer } from "./case.ts";
import type { WaitingRoom } from "./room.ts";
import { slotAnswer } from "./slot-wait.ts";
import { countText } from "./words.ts";

/** Whether the run has yet to take its thread. */
export const awaitsThread = ({ thread, isThreadTaken, isAdmitted }: RunState): boolean =>
  thread !== undefined && !isThreadTaken && !isAdmitted;

/** Why the run has not begun. Undefined if nothing holds it back. */
export function pendingAnswer(room: WaitingRoom, state: RunState): Answer | undefined {
  const { threadWait } = room;
  if (waitLeftMs(state, room.now) > 0) return timeAnswer(state.startAt);
  if (threadWait === undefined) return slotAnswer(room, state);
  const { threadId, holderRunId, aheadCount } = threadWait;
  const holder = holderRunId === null ? "no run holds it now" : `run ${holderRunId} holds it`;
  const before =
    aheadCount === 0
      ? "it is next in line"
      : `${countText(aheadCount, "other")} ${aheadCount === 1 ? "waits" : "wait"} before it`;
  return {
    reason: "WAITING_THREAD",
    summary: `It waits for thread "${threadId}": ${holder}; ${before}.`,
    next: "Wait until that run ends; or stop it with an interrupt or a rollback.",
  };
}

/** The caller asked for a start at this time. */
const timeAnswer = (startAt = 0): Answer => ({
  reason: "DELAYED",
  summary: `It starts at ${isoTime(startAt)}, as its caller asked.`,
  next: "Wait until then; or cancel the run and start it again.",
  untilAt: startAt,
});
