// Decides which due occurrences of a schedule start a run. It is pure: the caller computes the times.

import { unreachable } from "../fault/invariant.ts";

/** The policy for occurrences that came due while no scheduler could start them. */
export type MissedPolicy = "skip" | "run_once" | "run_all";

/** The policy for an occurrence that comes due while the run of the occurrence before is live. */
export type OverlapPolicy = "allow" | "skip";

/** An occurrence found later than this counts as missed. An earlier one is only late. */
export const LATE_MS = 60_000;
/** How many missed occurrences the scheduler starts after an outage. */
export const CATCH_UP_MAX = 100;

interface DueOccurrences {
  /** The due times in order, none after `now`. */
  readonly times: readonly number[];
  readonly now: number;
  readonly missed: MissedPolicy;
}

/** The occurrences to start, in order: all that are on time, and the missed ones that the policy names. */
export function occurrencesToStart({ times, now, missed }: DueOccurrences): readonly number[] {
  const firstOnTime = times.findIndex((at) => now - at <= LATE_MS);
  const missedCount = firstOnTime === -1 ? times.length : firstOnTime;
  switch (missed) {
    case "skip":
      return times.slice(missedCount);
    case "run_once":
      return times.slice(Math.max(0, missedCount - 1));
    case "run_all":
      return times.slice(Math.max(0, missedCount - CATCH_UP_MAX));
    default:
      return unreachable(missed, "missed policy");
  }
}
