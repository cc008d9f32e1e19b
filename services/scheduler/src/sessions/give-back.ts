// Gives claims back that their executor never got, in its name: they are queued again at once, and no delivery is counted. There are three
// cases. The executor said goodbye: it reported or released all that it got before, on the same stream. Its stream broke: what was not
// written by then cannot have arrived; what was written may have, so it stays with the executor until the executor registers again or its
// lease ends. This scheduler stops: its executors go to another scheduler and keep their claims.
//
// The race it survives: a tick under way has claimed nodes for the executor and sends them after its commit. If the stream were gone by
// then, the executor would seem to have lost them. So executors get nothing more first, then the tick ends, and only then they are sent
// away, behind its assignments. An executor that registers during a drain is refused, also if the drain began while it registered.

import { pause } from "@pawl/platform/lifecycle/backoff";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { TickLoop } from "../tick/loop.ts";
import type { Roster } from "./roster.ts";
import type { Session } from "./session.ts";

/** Waits for the tick under way, then releases the claims that the session holds, or those that were never sent. Settles after the commit. */
export async function giveBack(
  { loop, log }: { readonly loop: Pick<TickLoop, "afterTick" | "ask">; readonly log: Logger },
  session: Session,
  which: "all" | "unsent" = "all",
): Promise<void> {
  await loop.afterTick();
  const { executorId } = session;
  const claims = which === "all" ? session.held : session.unsent;
  const given = claims.map((claim) =>
    loop.ask((answer) => ({ kind: "lost", claim, reason: "released", executorId, answer })),
  );
  for (const settled of await Promise.allSettled(given))
    // The sweep finds it when its lease has ended.
    if (settled.status === "rejected")
      log.warn({ err: settled.reason, executor_id: executorId }, "a claim was not given back");
}

/** How long the last assignments may take to be written. */
const LEAVE_MS = 1_000;

/** Sends every executor away, because this scheduler stops. */
export async function drainExecutors(
  roster: Roster,
  loop: Pick<TickLoop, "afterTick" | "ask">,
  log: Logger,
): Promise<void> {
  roster.drain();
  await loop.afterTick();
  const { sessions } = roster;
  const left = sessions.map((session) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    session.send({ item: { case: "drain", value: {} } }, resolve);
    return promise;
  });
  await Promise.race([Promise.all(left), pause(LEAVE_MS, new AbortController().signal)]);
  await Promise.all(sessions.map((session) => giveBack({ loop, log }, session, "unsent")));
}
