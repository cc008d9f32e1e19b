// This scheduler is stopping: its executors are asked to go on elsewhere. They keep their claims, since an executor's
// identity is its own and not the connection's.
//
// The race it survives: a tick under way has claimed nodes for an executor and tells it after its commit. Sent away before that, the
// executor would never hear of them, and would be taken for one that lost them. So executors are given nothing more from now on, the
// tick comes to its end, and only then they are sent away, behind what it told them. What a slow stream does not take in a moment is
// given back while there still is a loop to commit it. An executor that asks to register meanwhile is refused, also where the drain
// began while it registered.

import { pause } from "@pawl/platform/lifecycle/backoff";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { TickLoop } from "../tick/loop.ts";
import { giveBack } from "./give-back.ts";
import type { Roster } from "./roster.ts";

/** How long the last assignments may take to leave. */
const LEAVE_MS = 1_000;

export async function drainExecutors(
  roster: Roster,
  loop: Pick<TickLoop, "afterTick" | "submit">,
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
