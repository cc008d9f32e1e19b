// Decides which task is next if more tasks want a sandbox process than there are. The share that holds the fewest processes comes first;
// among equals, the share served longest ago. Within a share, the oldest task is next. A share is a workflow. If one workflow sends a
// thousand tasks, it delays another only by the processes it holds, and not by the thousand.

export class Turns<Waiter> {
  /** Shares in the order of service. The share served longest ago is first. */
  readonly #lines = new Map<string, Waiter[]>();
  readonly #held = new Map<string, number>();
  #waiting = 0;

  /** How many tasks wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether a share waits that holds no process. */
  get hasNewcomer(): boolean {
    for (const share of this.#lines.keys()) if (!this.#held.has(share)) return true;
    return false;
  }

  wait(share: string, waiter: Waiter): void {
    const line = this.#lines.get(share);
    if (line === undefined) this.#lines.set(share, [waiter]);
    else line.push(waiter);
    this.#waiting += 1;
  }

  /** Counts one more process of the share. */
  begin(share: string): void {
    this.#held.set(share, (this.#held.get(share) ?? 0) + 1);
  }

  /** Counts one process less of the share. */
  end(share: string): void {
    const held = (this.#held.get(share) ?? 0) - 1;
    if (held > 0) this.#held.set(share, held);
    else this.#held.delete(share);
  }

  /** Takes the task whose turn it is. Its share holds one more process from now on. */
  next(): Waiter | undefined {
    const share = this.#nextShare();
    if (share === undefined) return undefined;
    this.begin(share);
    return this.#leave(share);
  }

  /** Removes the task whose turn it is, without giving it a process. */
  drop(): Waiter | undefined {
    const share = this.#nextShare();
    return share === undefined ? undefined : this.#leave(share);
  }

  /** Removes all waiting tasks. */
  clear(): Waiter[] {
    const all = [...this.#lines.values()].flat();
    this.#lines.clear();
    this.#waiting = 0;
    return all;
  }

  #nextShare(): string | undefined {
    let next: string | undefined;
    let fewest = Infinity;
    for (const share of this.#lines.keys()) {
      const held = this.#held.get(share) ?? 0;
      if (held >= fewest) continue;
      next = share;
      fewest = held;
    }
    return next;
  }

  #leave(share: string): Waiter | undefined {
    const line = this.#lines.get(share) ?? [];
    const waiter = line.shift();
    this.#lines.delete(share);
    if (line.length > 0) this.#lines.set(share, line);
    this.#waiting -= 1;
    return waiter;
  }
}
