// An executor said goodbye: all it knew of it has reported or released before, on the same stream.
//
// The race it survives: a tick under way has claimed nodes for it, or an assignment was on its way when it closed its ears. It never
// hears of them, and they would be taken for lost with it, which costs a delivery. They are given back in its name instead.

import type { Logger } from "@pawl/platform/telemetry/log";
import type { TickLoop } from "../tick/loop.ts";
import type { Session } from "./session.ts";

/** Releases what the session still holds, when the tick under way is over; settles when that is committed. */
export async function giveBack(
  { loop, log }: { readonly loop: Pick<TickLoop, "afterTick" | "offer">; readonly log: Logger },
  session: Session,
): Promise<void> {
  await loop.afterTick();
  const { executorId } = session;
  const given = session.held.map((claim) => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const answer = { resolve, reject };
    loop.offer({ kind: "lost", claim, reason: "released", executorId, answer });
    return promise;
  });
  for (const settled of await Promise.allSettled(given))
    // The sweep finds it once its lease has run out.
    if (settled.status === "rejected")
      log.warn({ err: settled.reason, executor_id: executorId }, "a claim was not given back");
}
