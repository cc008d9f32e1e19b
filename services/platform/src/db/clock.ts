// The database's clock, read without asking the database each time. Everything that is planned for a time is planned by it: deadlines
// of runs, backoff, run ids, occurrences of schedules. So schedulers agree with one another and with the statements that compare
// those times to now(), and a scheduler whose own wall clock is wrong, or is put right, changes nothing.
//
// A reading is the time of this process (lifecycle/steady-time.ts) plus an offset. Each answer of the database bounds the offset: the
// server read its clock between our question and its answer. An offset inside the bounds stays; one outside moves to the nearer bound.
//
// The database's own clock may step, by hand or because a standby takes over. The reading then follows at once, forwards and back,
// with the next answer: what is stored is compared to that clock in SQL, so a reading that followed slowly would be wrong for longer.
// Nothing here breaks when a reading goes back: waiting is measured in steady time, a tick takes one reading, and durations
// are never less than zero. `onStep` is called, since leases that seem to have run out may only have been stepped over.

import { steadyNow } from "../lifecycle/steady-time.ts";
import type { Queryable } from "./sql.ts";

const READ_CLOCK = {
  name: "pawl_read_clock",
  text: "select extract(epoch from clock_timestamp())::double precision * 1000 as now_ms",
};

/** A correction larger than this is a step of the database's clock, not a drift. */
const STEP_MS = 1_000;

/** What the database's clock says now, in milliseconds since the epoch. */
export async function readClock(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ now_ms: number }>(READ_CLOCK);
  const [row] = rows;
  if (row === undefined) throw new Error("invariant broken: the database gave no time");
  return row.now_ms;
}

export interface ClockOptions {
  /** The database's clock jumped by so much, back if negative. */
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

  /** Milliseconds since the epoch, whole. `learn` must have succeeded once. */
  readonly now = (): number => {
    if (this.#offset === undefined)
      throw new Error("invariant broken: the database's clock was not read yet");
    return Math.floor(this.#steady() + this.#offset);
  };

  /** Asks the database. @throws when it does not answer; the readings then go on as before. */
  async learn(db: Queryable): Promise<void> {
    const askedAt = this.#steady();
    this.heard(await readClock(db), askedAt, this.#steady());
  }

  /** The database said `nowMs`, asked and answered at these steady times. */
  heard(nowMs: number, askedAt: number, answeredAt: number): void {
    const least = nowMs - answeredAt;
    const most = nowMs - askedAt;
    const known = this.#offset;
    this.#offset =
      known === undefined ? (least + most) / 2 : Math.min(most, Math.max(least, known));
    const byMs = this.#offset - (known ?? this.#offset);
    if (Math.abs(byMs) > STEP_MS) this.#onStep(Math.round(byMs));
  }
}
