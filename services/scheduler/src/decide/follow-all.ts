// Runs that follow from the ends of others: parents, child runs, and the next runs of threads. Each may end in its turn.

import type { Draft } from "../commit/draft.ts";
import { followLinks } from "./child.ts";
import { followThreads, movesThreads, type ThreadParts } from "./thread.ts";

/** Whether the draft has yet to move other runs. */
export const hasFollowers = (draft: Draft): boolean =>
  draft.orphans.length > 0 ||
  draft.endedChildren.length > 0 ||
  draft.raised.length > 0 ||
  movesThreads(draft);

/** Moves other runs until nothing follows. The same transaction has written the draft `earlier`. */
export async function followAll(parts: ThreadParts, draft: Draft, earlier?: Draft): Promise<void> {
  while (hasFollowers(draft)) {
    await followLinks(parts.cache, draft, earlier);
    if (movesThreads(draft)) await followThreads(parts, draft, earlier);
  }
}
