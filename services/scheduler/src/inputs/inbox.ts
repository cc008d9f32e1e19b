// What waits for a tick: what has come, and what the last tick left because it had enough to write.
//
// Inputs about one run stay in the order they came. Between runs, whoever was left first goes first, so that it gets on however
// much comes; then what is new and every start, which are not to wait behind a hundred wide maps; then the others that were left.

import type { RunId } from "@pawl/core/name/ids";
import { type Input, runOf } from "./input.ts";
import { withoutRepeats } from "./repeats.ts";

/** However much was left, this many new inputs come along. */
const NEW_MIN = 32;

export class Inbox {
  #arrived: Input[] = [];
  #left: Input[] = [];

  get size(): number {
    return this.#arrived.length + this.#left.length;
  }

  push(...inputs: readonly Input[]): void {
    this.#arrived.push(...inputs);
  }

  /** Puts back what a tick took and did not commit. Whatever was left since came behind it, and stays there. */
  putBack(inputs: readonly Input[]): void {
    const all = [...inputs, ...this.#left.splice(0), ...this.#arrived];
    this.#arrived = withoutRepeats(all, (input) => input);
  }

  /** Takes out all that fit, in their order. */
  pull(fits: (input: Input) => boolean): Input[] {
    const all = [...this.#left.splice(0), ...this.#arrived];
    this.#arrived = all.filter((input) => !fits(input));
    return all.filter(fits);
  }

  /** What waits about a run. */
  about(runId: RunId): readonly Input[] {
    return [...this.#left, ...this.#arrived].filter((input) => runOf(input) === runId);
  }

  /** What a tick was given and has left undone. */
  leave(inputs: readonly Input[]): void {
    this.#left.push(...inputs);
  }

  /** About so many of them, in the order in which they are to be tried. */
  take(count: number): Input[] {
    const newCount = Math.max(Math.min(NEW_MIN, count), count - this.#left.length);
    const arrived = this.#arrived.splice(0, newCount);
    const [first, ...others] = this.#left;
    if (first === undefined) return arrived;
    this.#left = [];
    const firstRun = runOf(first);
    const leftRuns = new Set(others.filter(({ kind }) => kind !== "start").map(runOf));
    const rank = (runId: RunId): number => {
      if (runId === firstRun) return 0;
      return leftRuns.has(runId) ? 2 : 1;
    };
    return [first, ...others, ...arrived].toSorted((a, b) => rank(runOf(a)) - rank(runOf(b)));
  }
}

/** Inputs about one run together, runs and inputs in the order they came. */
export function byRun(inputs: readonly Input[]): Iterable<readonly Input[]> {
  return Map.groupBy(inputs, runOf).values();
}
