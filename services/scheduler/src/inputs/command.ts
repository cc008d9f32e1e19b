// The inputs whose sender waits for the answer.

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
