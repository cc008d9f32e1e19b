// Times and durations for people.

import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Each unit, its length, and the length of the next larger unit. */
const UNITS = [
  ["d", DAY_MS, Infinity],
  ["h", HOUR_MS, DAY_MS],
  ["m", MINUTE_MS, HOUR_MS],
  ["s", SECOND_MS, MINUTE_MS],
] as const;

/** Milliseconds of a wire timestamp, if there is one. */
export const wireMs = (time: Timestamp | undefined): number | undefined =>
  time === undefined ? undefined : timestampMs(time);

/** Date and time in the reader's locale. */
export const formatTime = (ms: number): string => full.format(ms);

/** Time of day with milliseconds, for logs. */
export const formatClock = (ms: number): string =>
  clock.format(ms).replace(
    /(\d{1,2}:\d{2}:\d{2})/,
    `$1.${String(ms % SECOND_MS)
      .padStart(3, "0")
      .slice(0, 3)}`,
  );

/** The whole units in a duration, largest first, from the first that is not 0: `4 m`, `12 s`. */
const unitsOf = (ms: number): readonly string[] =>
  UNITS.slice(UNITS.findIndex(([, unitMs]) => ms >= unitMs)).map(
    ([unit, unitMs, wholeMs]) => `${Math.floor((ms % wholeMs) / unitMs)} ${unit}`,
  );

/** `420 ms`, `3.2 s`, `4 m 12 s`, `2 h 5 m`. */
export function formatDuration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.max(Math.round(ms), 0)} ms`;
  if (ms < MINUTE_MS) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  return unitsOf(ms).slice(0, 2).join(" ");
}

/** `just now`, `3 m ago`, `2 h ago`, `4 d ago`. */
export const formatAge = (ms: number): string =>
  ms < 5 * SECOND_MS ? "just now" : `${unitsOf(ms)[0]} ago`;
