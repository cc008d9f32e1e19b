// Explains that a run or a queue is paused, with the user who paused it and the reason.

import type { RunState } from "../log/state.ts";
import type { QueuePauseSeen } from "./room.ts";

/** One sentence, or undefined if the run is not paused. */
export function pausedText({ pause }: RunState): string | undefined {
  if (pause === undefined) return undefined;
  const { scope, who, reason } = pause;
  const what = scope === "workflow" ? "The run's workflow" : "The run";
  return `${what} is paused${byText(who, reason)}; its nodes do not start until it is resumed.`;
}

/** The user and the reason, if the user gave them. */
const byText = (who: string, reason: string): string =>
  `${who === "" ? "" : ` by ${who}`}${reason === "" ? "" : ` (${reason})`}`;

/** One sentence about a queue. */
export const queuePausedText = ({ nodeType, by, reason }: QueuePauseSeen): string =>
  `The queue of type ${nodeType} is paused${byText(by, reason)}; no executor gets a node of it until it is resumed.`;

/** The command that resumes a paused run. */
export function resumptionOf({ pause, runId }: RunState, workflowId: string | undefined): string {
  if (pause?.scope !== "workflow") return `Resume it with \`pawl run resume ${runId}\`.`;
  return workflowId === undefined
    ? "Resume the workflow."
    : `Resume it with \`pawl workflow resume ${workflowId}\`.`;
}
