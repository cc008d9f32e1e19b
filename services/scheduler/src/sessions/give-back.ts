// Gives back claims that their executor never got. They are queued again at once, and no delivery is counted. There are three cases. The
// executor said goodbye: it has reported or released everything it got, on the same stream. The stream broke: an unwritten assignment
// cannot have arrived. A written one may have, so the executor keeps it until it registers again or its lease ends. This scheduler stops:
// its executors connect to another scheduler and keep their claims.
//
// Race: a tick under way has claimed nodes for the executor and sends them after its commit. If the stream had ended by then, the executor
// would seem to have lost them. So the scheduler first gives executors nothing more, then waits for the tick, and ends their streams behind
// its assignments. It refuses an executor that registers during a drain, also if the drain began during the registration.

import { pause } from "@pawl/platform/lifecycle/backoff";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { TickLoop } from "../tick/loop.ts";
import type { ConnectedExecutors } from "./connected-executors.ts";
import type { Session } from "./session.ts";

/** Waits for the tick under way, then releases the claims of the session, or only those that were never sent. Settles after the commit. */
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
    // The sweep takes the claim back when its lease has ended.
    if (settled.status === "rejected")
      log.warn({ err: settled.reason, executor_id: executorId }, "a claim was not given back");
}

/** How long the stream may take to write the last assignments. */
const LEAVE_MS = 1_000;

/** Ends the streams of all executors, because this scheduler stops. */
export async function drainExecutors(
  connected: ConnectedExecutors,
  loop: Pick<TickLoop, "afterTick" | "ask">,
  log: Logger,
): Promise<void> {
  connected.drain();
  await loop.afterTick();
  const { sessions } = connected;
  const left = sessions.map((session) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    session.send({ item: { case: "drain", value: {} } }, resolve);
    return promise;
  });
  await Promise.race([Promise.all(left), pause(LEAVE_MS, new AbortController().signal)]);
  await Promise.all(sessions.map((session) => giveBack({ loop, log }, session, "unsent")));
}
