// Inputs that wait for a tick: new ones, and those that the last tick did not take because it had enough to write.
//
// Inputs about one run keep their order of arrival. The oldest input that a tick did not take goes first, so it advances under any load.
// New inputs and starts follow, so they do not wait behind a hundred wide maps. The other inputs that a tick did not take come last.

import type { RunId } from "@pawl/core/name/ids";
import { type Input, type NamedClaim, runOf } from "./input.ts";

/** A tick takes at least this many new inputs, also if the last tick did not take many. */
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

  /** Puts back inputs that a tick took and did not commit, before all other old inputs. */
  putBack(inputs: readonly Input[]): void {
    const all = [...inputs, ...this.#left.splice(0), ...this.#arrived];
    this.#arrived = withoutRepeats(all, (input) => input);
  }

  /** Removes and returns all inputs that fit, in order. */
  pull(fits: (input: Input) => boolean): Input[] {
    const all = [...this.#left.splice(0), ...this.#arrived];
    this.#arrived = all.filter((input) => !fits(input));
    return all.filter(fits);
  }

  /** The inputs about a run. */
  about(runId: RunId): readonly Input[] {
    return [...this.#left, ...this.#arrived].filter((input) => runOf(input) === runId);
  }

  /** Keeps the inputs that a tick has not tried. */
  leave(inputs: readonly Input[]): void {
    this.#left.push(...inputs);
  }

  /** About this many inputs, in the order in which the tick tries them. */
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

/** Groups inputs by run. Runs and inputs keep their order of arrival. */
export function byRun(inputs: readonly Input[]): Iterable<readonly Input[]> {
  return Map.groupBy(inputs, runOf).values();
}

const nameOf = ({ executorId, runId, nodeId, iteration, epoch }: NamedClaim): string =>
  `${executorId}/${runId}/${nodeId}/${iteration}/${epoch}`;

/**
 * Keeps each result once: at its first place, in its newest form. An executor repeats a result until the scheduler acknowledges it. The
 * sender of the newest form is still connected. Memory stays bounded while the store is down.
 */
export function withoutRepeats<T>(items: readonly T[], inputOf: (item: T) => Input): T[] {
  const kept: T[] = [];
  const places = new Map<string, number>();
  for (const item of items) {
    const input = inputOf(item);
    const name = input.kind === "outcome" ? nameOf(input.claim) : undefined;
    const place = (name === undefined ? undefined : places.get(name)) ?? kept.length;
    if (name !== undefined) places.set(name, place);
    kept[place] = item;
  }
  return kept;
}
