// Pauses for random runs.

import { onPause, onResume } from "../src/plan/pause.ts";
import type { ToyRun } from "./toy-run.ts";

/** A user pauses the run, or resumes it. */
export function togglePause(run: ToyRun): void {
  const note = { scope: "run", who: "", reason: "" } as const;
  const isPaused = run.state.status === "paused";
  const result = isPaused ? onResume(run.state, note, run.now) : onPause(run.state, note);
  if (result.kind === "accepted") result.facts.forEach(run.append);
  run.now += 1_000;
  run.plan();
}
