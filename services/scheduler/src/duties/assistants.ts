// Finishes deletions of assistants whose scheduler died between two steps. Race: the command that deletes an assistant works at the same time.
// Both remove runs in transactions that lock them, and each step removes what is left.

import type { Assistants } from "@pawl/platform/store/assistants/assistants";
import { removeAssistant } from "../commands/assistants.ts";

/** Removes what closed assistants left. Returns whether there was any. */
export async function sweepAssistants(
  assistants: Pick<Assistants, "closed" | "removeSome">,
): Promise<boolean> {
  const closed = await assistants.closed();
  for (const key of closed) await removeAssistant(assistants, key);
  return closed.length > 0;
}
