// Has the tick pause or resume one run.

import type { PauseNote } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import type { PauseAnswer } from "../inputs/input.ts";
import type { TickLoop } from "../tick/loop.ts";

/** @throws RUN_QUARANTINED, STORE_UNAVAILABLE, DRAINING, RUN_CONTENDED */
export async function submitPause(
  { loop }: { readonly loop: TickLoop },
  kind: "pause" | "resume",
  runId: RunId,
  note: PauseNote,
): Promise<PauseAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<PauseAnswer>();
  loop.submit({ kind, runId, note, answer: { resolve, reject } });
  return await promise;
}
