// The next times of a schedule, for people: from its own next occurrence on, so that what is shown is what will fire.

import { LIMITS } from "@pawl/core/data/limits";
import type { Recurrence } from "./boss-occurrences.ts";
import type { Occurrences } from "./occurrences.ts";

/** How many are shown with a schedule. */
export const OCCURRENCES_SHOWN = LIMITS.previewTimes;

/** None unless it is active; fewer when its rule ends. */
export async function upcoming(
  occurrences: Occurrences,
  { nextAt, spec }: { readonly nextAt: number | null; readonly spec: Recurrence },
  count: number,
): Promise<number[]> {
  if (nextAt === null) return [];
  try {
    return [nextAt, ...(await occurrences.after(spec, nextAt, count - 1))];
  } catch {
    // The rule could be read when it was kept; what it says after its next occurrence is not known.
    return [nextAt];
  }
}
