// What people read about the handler process behind an executor.

import type { ExecutorSeen } from "./room.ts";
import { countText, durationText } from "./words.ts";

/** Whether the process behind an executor does not answer. */
export const isSilent = (executor: ExecutorSeen | undefined): boolean =>
  (executor?.silentMs ?? 0) > 0;

/** The name of the process with its language and build; empty for an executor that runs its handlers itself. */
function processName({ processName: name = "", language = "", build = "" }: ExecutorSeen): string {
  if (name === "") return "";
  const about = [language, build === "" ? "" : `build ${build}`].filter((word) => word !== "");
  return about.length === 0 ? name : `${name} (${about.join(", ")})`;
}

/** A sentence about the process, with a space before it; empty if there is none. */
export function processText(executor: ExecutorSeen | undefined): string {
  if (executor === undefined || processName(executor) === "") return "";
  const { silentMs = 0, giveUpMs = 0 } = executor;
  const state = silentMs > 0 ? silenceText(silentMs, giveUpMs) : "answers";
  return ` Its handler process ${processName(executor)} ${state}; ${busyText(executor)}.`;
}

function silenceText(silentMs: number, giveUpMs: number): string {
  const silent = `has been silent for ${durationText(silentMs)}`;
  if (giveUpMs === 0) return silent;
  return `${silent}, and the executor gives it up in ${durationText(giveUpMs)}`;
}

/** A process that is silent or leaves offers no slots, and keeps those that it has. */
const busyText = ({ heldCount, slots }: ExecutorSeen): string =>
  slots === 0
    ? `${countText(heldCount, "slot")} busy, and it gets no new work`
    : `${heldCount} of ${countText(slots, "slot")} busy`;
