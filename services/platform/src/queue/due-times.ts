// The occurrences between two times, the newest of them when there are too many. Computing goes forwards only, so the search widens
// backwards from now: after three weeks without a scheduler, a rule that comes due every second is not counted through.

import { OCCURRENCES_MAX, occurrencesAfter, type Recurrence } from "./boss-occurrences.ts";

/** Nothing comes due more often than once a second, so the first window is read by one call. */
const FIRST_WINDOW_MS = 2 * 60_000;
const GROWTH = 4;
/** A rule that is dense only far back: some 20,000 occurrences are read, which takes a second or two, once. */
const PAGES_MAX = 40;

/** What is asked of them. */
export interface DueWindow {
  readonly first: number;
  readonly now: number;
  readonly max: number;
}

/** The newest occurrences from `first`, which is one of them, to `now`, in order. */
export function dueTimes(recurrence: Recurrence, { first, now, max }: DueWindow): number[] {
  if (now === first) return [first];
  for (let width = FIRST_WINDOW_MS; ; width *= GROWTH) {
    const isWhole = now - width < first;
    const times = readWindow(recurrence, isWhole ? first - 1 : now - width, now);
    if (isWhole || times.length >= max) return times.slice(-max);
  }
}

/** Every occurrence after `after` up to `now`; the newest pages of them when there are very many. */
function readWindow(recurrence: Recurrence, after: number, now: number): number[] {
  let times: number[] = [];
  let from = after;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const read = occurrencesAfter(recurrence, from, OCCURRENCES_MAX);
    const due = read.filter((at) => at <= now);
    times = due.length === 0 ? times : [...times.slice(-OCCURRENCES_MAX), ...due];
    const last = due.at(-1);
    if (due.length < OCCURRENCES_MAX || last === undefined) break;
    from = last;
  }
  return times;
}
