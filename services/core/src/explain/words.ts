// Numbers and lists as text for explanations.

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** A duration as text: 800 ms, 4.2 s, 3 min, 2 h. */
export function durationText(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < SECOND_MS) return `${whole} ms`;
  if (whole < MINUTE_MS) return `${Math.round(whole / 100) / 10} s`;
  if (whole < 2 * HOUR_MS) return `${Math.round(whole / MINUTE_MS)} min`;
  return `${Math.round(whole / HOUR_MS)} h`;
}

const LISTED_MAX = 5;

/** The first few items of a list, and the number of the others. `total` is given if the list is not whole. */
export function listText(items: readonly string[], total = items.length): string {
  const shown = items.slice(0, LISTED_MAX).join(", ");
  const left = total - Math.min(items.length, LISTED_MAX);
  return left > 0 ? `${shown} and ${left} more` : shown;
}

/** "1 executor", "2 executors". */
export const countText = (count: number, one: string): string =>
  `${count} ${count === 1 ? one : `${one}s`}`;
