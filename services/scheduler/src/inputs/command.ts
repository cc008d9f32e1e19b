// The inputs whose sender waits for the answer, and those that must not be lost.

import type { Input } from "./input.ts";

const COMMANDS: ReadonlySet<Input["kind"]> = new Set([
  "start",
  "cancel",
  "decide",
  "signal",
  "pause",
  "resume",
  "raise",
  "metadata",
]);

/** Whether the sender waits for the answer and may repeat the input. */
export const isCommand = ({ kind }: Input): boolean => COMMANDS.has(kind);

const KEPT: ReadonlySet<Input["kind"]> = new Set([
  "outcome",
  "lost",
  "deadline",
  "due",
  "signal_due",
]);

/** Inputs of executors and of sweeps for deadlines must be kept. A caller of a command gets the error and decides. */
export const mustBeKept = ({ kind }: Input): boolean => KEPT.has(kind);
