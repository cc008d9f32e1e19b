// The executor's capacity: how many attempts may run at once, and how many do. The scheduler counts too and normally assigns no more. An
// executor without room is an exception: it gives the claim back.

export class Capacity {
  /** The number of slots. It may change while attempts run. If more attempts run than this, there is no room until enough have ended. */
  total: number;
  used = 0;
  /** Set when the executor stops. From then on no attempt gets room. */
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
