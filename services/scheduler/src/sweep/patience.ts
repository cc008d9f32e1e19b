// When an executor's silence says nothing about it: nobody could renew while the database was away, while no scheduler was there, or
// while this process itself stood still (a long pause, a suspended machine), or the database's clock stepped over its lease. Its claims are left alone until it had the time to find
// us again, or an outage longer than a lease would take all work out of living hands and have it done twice.

export interface PatienceOptions {
  readonly renewMs: number;
  readonly sweepMs: number;
  /** Steady time: it counts while the machine is suspended, and no clock that is set moves it. */
  readonly now: () => number;
  /** Told for how long nobody is judged. */
  readonly onBegin?: (forMs: number) => void;
}

/** Executors find a scheduler again within about two seconds. */
export const RECONNECT_MS = 3_000;

export class Patience {
  readonly #options: PatienceOptions;
  #until: number;
  #steppedAt = -Infinity;
  #lookedAt: number;

  /** Begins with patience: there may have been no scheduler before this one. */
  constructor(options: PatienceOptions) {
    this.#options = options;
    this.#lookedAt = options.now();
    this.#until = this.#lookedAt + this.#forMs;
  }

  /** Whether silence counts now. */
  get isOver(): boolean {
    return this.#options.now() >= this.#until;
  }

  /** Renewals may not have come through until now. */
  begin(): void {
    this.#until = this.#options.now() + this.#forMs;
    this.#options.onBegin?.(this.#forMs);
  }

  /** The database's clock stepped: a lease may look older than it is. */
  stepped(): void {
    this.#steppedAt = this.#options.now();
    this.begin();
  }

  /** Whether a claim that looks this old can be: whether no step of the clock lies so near. */
  isCredible(ageMs: number): boolean {
    return this.#options.now() - this.#steppedAt >= ageMs;
  }

  /** Looks at who is alive, and doubts what it sees when the look came late, took long or failed. */
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
