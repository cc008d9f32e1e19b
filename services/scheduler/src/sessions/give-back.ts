// Claims that their executor never heard of, given back in its name: queued again at once, and no delivery is counted.
//
// Two ways lead here. The executor said goodbye: all that it knew of it has reported or released before, on the same stream. Or its
// stream broke: what was not written to it by then cannot have arrived. What was written may have, so it stays with the executor until
// the executor registers again or its lease ends.
//
// The race it survives: a tick under way has claimed nodes for the executor and tells it after its commit, when the stream is gone. So
// the tick comes to its end first.

import type { Logger } from "@pawl/platform/telemetry/log";
import type { TickLoop } from "../tick/loop.ts";
import type { Session } from "./session.ts";

/** Releases what the session still holds, or what of it was never sent, when the tick under way is over; settles when that is committed. */
export async function giveBack(
  { loop, log }: { readonly loop: Pick<TickLoop, "afterTick" | "submit">; readonly log: Logger },
  session: Session,
  which: "all" | "unsent" = "all",
): Promise<void> {
  await loop.afterTick();
  const { executorId } = session;
  const claims = which === "all" ? session.held : session.unsent;
  const given = claims.map((claim) => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const answer = { resolve, reject };
    loop.submit({ kind: "lost", claim, reason: "released", executorId, answer });
    return promise;
  });
  for (const settled of await Promise.allSettled(given))
    // The sweep finds it once its lease has run out.
    if (settled.status === "rejected")
      log.warn({ err: settled.reason, executor_id: executorId }, "a claim was not given back");
}
