// The executor's capacity: how many attempts may run at once, and how many do. The scheduler keeps its own count and normally assigns no
// more than that, so an executor without room is an exception: it gives the claim back.

export class Capacity {
  /** It may change while attempts run; with more of them than this, there is no room until enough have ended. */
  total: number;
  used = 0;
  /** Set when the executor leaves: no attempt gets room any more. */
  isClosed = false;
  readonly #idleWaiters: (() => void)[] = [];

  constructor(total: number) {
    this.total = total;
  }

  /** Takes room for one attempt, if there is any. */
  tryTake(): boolean {
    if (this.isClosed || this.used >= this.total) return false;
    this.used++;
    return true;
  }

  /** Gives the room of one attempt back. */
  give(): void {
    this.used--;
    if (this.used === 0) for (const wake of this.#idleWaiters.splice(0)) wake();
  }

  /** Settles when nothing runs. */
  async idle(): Promise<void> {
    if (this.used === 0) return;
    await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }
}
