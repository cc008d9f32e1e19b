// Bounded concurrency: the only place that counts what runs. The scheduler counts credit by itself (slots less what it assigned
// and has not seen ended), so here a full house is an exception, answered by giving the claim back.

export class Slots {
  readonly capacity: number;
  #used = 0;
  #isClosed = false;
  readonly #idleWaiters: (() => void)[] = [];

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get used(): number {
    return this.#used;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Takes a slot if there is one. */
  tryTake(): boolean {
    if (this.#isClosed || this.#used >= this.capacity) return false;
    this.#used++;
    return true;
  }

  give(): void {
    this.#used--;
    if (this.#used === 0) for (const wake of this.#idleWaiters.splice(0)) wake();
  }

  /** No slot is given out any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** Settles when nothing runs. */
  async idle(): Promise<void> {
    if (this.#used === 0) return;
    await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }
}
