// After the commit: assignments to executors that were given a node (offers aside, which they have), and a word to those whose claim was taken away. Either
// may be lost with its connection; what an executor says it holds at its next renewal puts that right.

import type { Roster } from "../work/roster.ts";
import { claimItem } from "../work/wire.ts";
import { assign, claimOf } from "./assignment.ts";
import type { Draft } from "./draft.ts";

export function tell(roster: Roster, draft: Draft): void {
  for (const closed of draft.closed) {
    const holder = roster.holderOf(closed);
    if (holder === undefined) continue;
    const { session, held } = holder;
    session.letGo(held);
    session.send(claimItem(closed.isLost ? "claimLost" : "cancel", held));
  }
  for (const handOff of draft.handOffs) assign(handOff, claimOf(handOff));
}
