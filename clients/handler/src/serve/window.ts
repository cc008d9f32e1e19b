// How much partial output of one invocation is under way. A writer waits while the window is full. The host counts what it has passed on.
//
// The race it survives: a cancel may come while a writer waits. The writer then gets the reason of the signal.

export class Window {
  readonly #signal: AbortSignal;
  /** The sizes of the pieces under way, in order. */
  readonly #underWay: number[] = [];
  #bytes = 0;
  #passed = 0;
  #freed = Promise.withResolvers<void>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#free());
  }

  /** Settles when a piece of this size may be sent, and counts it. With nothing under way, every piece fits. */
  async enter(bytes: number, bytesMax: number): Promise<void> {
    this.#signal.throwIfAborted();
    while (this.#bytes > 0 && this.#bytes + bytes > bytesMax) {
      await this.#freed.promise;
      this.#signal.throwIfAborted();
    }
    this.#underWay.push(bytes);
    this.#bytes += bytes;
  }

  /** The host has passed on so many pieces since the beginning. */
  passed(count: number): void {
    while (this.#passed < count && this.#underWay.length > 0) {
      this.#passed += 1;
      this.#bytes -= this.#underWay.shift() ?? 0;
    }
    this.#free();
  }

  #free(): void {
    this.#freed.resolve();
    this.#freed = Promise.withResolvers();
  }
}
