// This scheduler is stopping: its executors are asked to go on elsewhere. They keep their claims, since an executor's
// identity is its own and not the connection's.
//
// The race it survives: a tick under way has claimed nodes for an executor and tells it after its commit. Sent away before that, the
// executor would never hear of them, and would be taken for one that lost them. So nobody is given anything more from now on, the
// tick comes to its end, and only then they are sent away, behind what it told them. Who asks to register meanwhile is refused, also
// where the drain began while it registered.

import type { TickLoop } from "../tick/loop.ts";
import type { Roster } from "./roster.ts";

export async function drainExecutors(
  roster: Roster,
  loop: Pick<TickLoop, "afterTick">,
): Promise<void> {
  roster.drain();
  await loop.afterTick();
  for (const session of roster.sessions) session.send({ item: { case: "drain", value: {} } });
}
