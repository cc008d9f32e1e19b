// A clock that tests move by hand. Everything that a timer starts, as far as it needs no outside world, is over before the next timer and
// before `advance` returns.

import type { Cancel, Timers } from "./timers.ts";

/** Far more turns than any chain of awaits in the tested code takes. */
const TURNS = 200;

interface Alarm {
  readonly dueAt: number;
  readonly wake: () => void;
}

export class ManualTimers implements Timers {
  readonly #alarms = new Set<Alarm>();
  #now = 0;

  readonly now = (): number => this.#now;

  after(ms: number, wake: () => void): Cancel {
    const alarm = { dueAt: this.#now + ms, wake };
    this.#alarms.add(alarm);
    return () => void this.#alarms.delete(alarm);
  }

  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      this.#now = Math.max(this.#now, next.dueAt);
      this.#alarms.delete(next);
      next.wake();
      await settle();
    }
    this.#now = until;
  }

  #next(until: number): Alarm | undefined {
    const due = [...this.#alarms].filter(({ dueAt }) => dueAt <= until);
    return due.toSorted((a, b) => a.dueAt - b.dueAt)[0];
  }
}

/** Runs everything that is ready. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await Promise.resolve();
}
