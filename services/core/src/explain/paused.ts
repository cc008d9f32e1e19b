// That a run is paused: by whom, and why.

import type { RunState } from "../log/state.ts";

/** One sentence, or undefined when the run is not paused. */
export function pausedText({ pause }: RunState): string | undefined {
  if (pause === undefined) return undefined;
  const { scope, who, reason } = pause;
  const what = scope === "workflow" ? "The run's workflow" : "The run";
  const by = `${who === "" ? "" : ` by ${who}`}${reason === "" ? "" : ` (${reason})`}`;
  return `${what} is paused${by}; nothing of it is started until it is resumed.`;
}
