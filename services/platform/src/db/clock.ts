// The database's clock, read without a query each time. Everything with a time uses it: deadlines of runs, backoff, run ids, occurrences of
// schedules. So all schedulers and all statements with now() agree, and the wall clock of a scheduler does not matter.
//
// A reading is the steady time of this process (lifecycle/steady-time.ts) plus an offset. Each answer of the database bounds the offset:
// the server read its clock between the question and the answer. An offset inside the bounds stays. Any other offset moves to the nearer
// bound.
//
// The database's own clock may step, by hand or after a failover. The reading follows with the next answer, forwards or backwards. SQL
// compares stored times to that clock, so a slow correction would be wrong for longer. A backward step is harmless: waits use steady time,
// a tick takes one reading, and durations are never below zero. The clock calls `onStep`, because leases that seem expired may not be.

import { steadyNow } from "../lifecycle/steady-time.ts";
import { number } from "./columns.ts";
import { first, queriesBeside, type Queryable } from "./query.ts";

const clock = queriesBeside(import.meta.url)("clock", {}, { nowMs: number() });

/** Added to a wait. The clocks of a process and of the database differ by less, so the time has come by both. */
export const CLOCK_SLACK_MS = 10;

/** A correction larger than this is a step of the database's clock, not a drift. */
const STEP_MS = 1_000;

/** The database's current time, in milliseconds since the epoch. */
export async function readClock(db: Queryable): Promise<number> {
  const row = await first(db, clock, {});
  if (row === undefined) throw new Error("invariant broken: the database gave no time");
  return row.nowMs;
}

interface ClockOptions {
  /** The database's clock jumped by this much. A negative number is a jump back. */
  readonly onStep?: (byMs: number) => void;
  readonly steady?: () => number;
}

export class DatabaseClock {
  readonly #steady: () => number;
  readonly #onStep: (byMs: number) => void;
  #offset: number | undefined;

  constructor({ onStep = () => {}, steady = steadyNow }: ClockOptions = {}) {
    this.#onStep = onStep;
    this.#steady = steady;
  }

  /** Whole milliseconds since the epoch. `learn` must have succeeded once. */
  readonly now = (): number => {
    if (this.#offset === undefined)
      throw new Error("invariant broken: the database's clock was not read yet");
    return Math.floor(this.#steady() + this.#offset);
  };

  /** Queries the clock of the database. @throws if it does not answer; the offset then stays. */
  async learn(db: Queryable): Promise<void> {
    const askedAt = this.#steady();
    this.correct(await readClock(db), askedAt, this.#steady());
  }

  /** The database answered `nowMs`. The question left and the answer arrived at these steady times. */
  correct(nowMs: number, askedAt: number, answeredAt: number): void {
    const least = nowMs - answeredAt;
    const most = nowMs - askedAt;
    const known = this.#offset;
    this.#offset =
      known === undefined ? (least + most) / 2 : Math.min(most, Math.max(least, known));
    const byMs = this.#offset - (known ?? this.#offset);
    if (Math.abs(byMs) > STEP_MS) this.#onStep(Math.round(byMs));
  }
}
