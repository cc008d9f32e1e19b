// The time at which a caller wants a run to start.

import { LIMITS } from "../data/limits.ts";

/** A delay from the acceptance on, or a time. Times are milliseconds since 1970. */
export type AskedTime =
  | { readonly kind: "after"; readonly ms: number }
  | { readonly kind: "at"; readonly at: number };

type StartTime =
  | { readonly kind: "at_once" }
  | { readonly kind: "later"; readonly startAt: number }
  | { readonly kind: "too_far" };

/** When a run starts that is accepted now. A time that has passed means at once: clocks differ, and calls are repeated. */
export function startTime(asked: AskedTime | undefined, now: number): StartTime {
  if (asked === undefined) return { kind: "at_once" };
  const startAt = Math.ceil(asked.kind === "after" ? now + asked.ms : asked.at);
  if (startAt <= now) return { kind: "at_once" };
  if (startAt - now > LIMITS.startDelayMsMax + 1) return { kind: "too_far" };
  return { kind: "later", startAt };
}

/** How long a run still waits for its time. 0 if it does not. */
export const waitLeftMs = (
  { startAt = 0 }: { readonly startAt?: number | undefined },
  now: number,
): number => Math.max(0, startAt - now);
