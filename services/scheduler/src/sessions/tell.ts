// After the commit: the scheduler sends assignments to the executors that got a claim, and ClaimLost or Cancel to those whose claim
// ended. Either message may be lost with its connection; the executor's next renewal names what it holds, which repairs that.

import type { Roster } from "./roster.ts";
import { claimItem } from "./wire.ts";
import { assign, claimOf } from "./assignment.ts";
import type { Draft } from "../commit/draft.ts";

export function tell(roster: Roster, draft: Draft): void {
  for (const closed of draft.closed) {
    const session = roster.holderOf(closed);
    if (session === undefined) continue;
    session.letGo(closed);
    session.send(claimItem(closed.isLost ? "claimLost" : "cancel", closed));
  }
  for (const handOff of draft.handOffs) assign(handOff, claimOf(handOff));
}
