// A grace period in which the silence of an executor proves nothing. There are four reasons. The database was down. No scheduler ran. This
// process stood still (a long pause, a suspended machine). Or the database's clock stepped past the lease. The scheduler takes no claim
// back until the executor had time to reconnect. Otherwise an outage longer than a lease would take all work from live executors and run it
// twice.

interface LeaseGraceOptions {
  readonly renewMs: number;
  readonly sweepMs: number;
  /** Steady time. It advances while the machine is suspended, and a change of the clock does not affect it. */
  readonly now: () => number;
  /** Called with the length of a grace period when it begins. */
  readonly onBegin?: (forMs: number) => void;
}

/** Executors reconnect to a scheduler within about two seconds. */
export const RECONNECT_MS = 3_000;

export class LeaseGrace {
  readonly #options: LeaseGraceOptions;
  #until: number;
  #steppedAt = -Infinity;
  #lookedAt: number;

  /** The first grace period begins here: no scheduler may have run before this one. */
  constructor(options: LeaseGraceOptions) {
    this.#options = options;
    this.#lookedAt = options.now();
    this.#until = this.#lookedAt + this.#forMs;
  }

  /** Whether silence counts now. */
  get isOver(): boolean {
    return this.#options.now() >= this.#until;
  }

  /** Begins a grace period, because renewals may not have arrived until now. */
  begin(): void {
    this.#until = this.#options.now() + this.#forMs;
    this.#options.onBegin?.(this.#forMs);
  }

  /** Notes a step of the database's clock: a lease may look older than it is. */
  stepped(): void {
    this.#steppedAt = this.#options.now();
    this.begin();
  }

  /** Whether a claim may really be this old: the clock did not step within its age. */
  isCredible(ageMs: number): boolean {
    return this.#options.now() - this.#steppedAt >= ageMs;
  }

  /** Runs a query about live executors. Begins a grace period if the query came late, took long or failed. */
  async look<T>(query: () => Promise<T>): Promise<T> {
    const { now, renewMs, sweepMs } = this.#options;
    const began = now();
    let isDoubtful = began - this.#lookedAt > sweepMs + renewMs;
    try {
      return await query();
    } catch (error) {
      isDoubtful = true;
      throw error;
    } finally {
      this.#lookedAt = now();
      if (isDoubtful || this.#lookedAt - began > renewMs) this.begin();
    }
  }

  get #forMs(): number {
    return this.#options.renewMs + RECONNECT_MS;
  }
}
