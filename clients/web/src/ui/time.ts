// Times and durations as people read them.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Timestamp } from "@bufbuild/protobuf/wkt";

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Milliseconds of a wire timestamp, if there is one. */
export const wireMs = (time: Timestamp | undefined): number | undefined =>
  time === undefined ? undefined : timestampMs(time);

/** Date and time in the reader's own way. */
export const formatTime = (ms: number): string => full.format(ms);

/** Time of day with milliseconds, for logs. */
export const formatClock = (ms: number): string =>
  clock.format(ms).replace(
    /(\d{1,2}:\d{2}:\d{2})/,
    `$1.${String(ms % SECOND_MS)
      .padStart(3, "0")
      .slice(0, 3)}`,
  );

/** `420 ms`, `3.2 s`, `4 m 12 s`, `2 h 5 m`. */
export function formatDuration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.max(Math.round(ms), 0)} ms`;
  if (ms < MINUTE_MS) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (ms < HOUR_MS)
    return `${Math.floor(ms / MINUTE_MS)} m ${Math.floor((ms % MINUTE_MS) / SECOND_MS)} s`;
  if (ms < DAY_MS)
    return `${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} m`;
  return `${Math.floor(ms / DAY_MS)} d ${Math.floor((ms % DAY_MS) / HOUR_MS)} h`;
}

/** `just now`, `3 m ago`, `2 h ago`, `4 d ago`. */
export function formatAge(ms: number): string {
  if (ms < 5 * SECOND_MS) return "just now";
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s ago`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} m ago`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h ago`;
  return `${Math.floor(ms / DAY_MS)} d ago`;
}
