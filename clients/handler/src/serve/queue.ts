// The two numbered queues of a session. They outlive the streams that carry them.
//
// The race they survive: a stream may end at any moment, with messages under way in both directions. The sender keeps an item until the other
// side has it, and the receiver drops numbers that it has already. So every item arrives once, in order.

/** Items with the number of the first. */
export interface Numbered<Item> {
  readonly firstSeq: number;
  readonly items: readonly Item[];
}

/** Items that this side sends. Their senders bound it: see the limits of a session. */
export class OutQueue<Item> {
  readonly #bytesOf: (item: Item) => number;
  readonly #kept: Item[] = [];
  /** The number of the first kept item. */
  #firstSeq = 1;
  /** How many of the kept items the current stream has. */
  #onStream = 0;
  /** The highest number that any stream has carried. */
  #sentSeq = 0;

  constructor(bytesOf: (item: Item) => number) {
    this.#bytesOf = bytesOf;
  }

  get isEmpty(): boolean {
    return this.#kept.length === 0;
  }

  add(item: Item): void {
    this.#kept.push(item);
  }

  /** The other side has everything up to `seq`. A number that was never sent is a fault of the other side and forgets nothing unsent. */
  heard(seq: number): void {
    const count = Math.min(seq, this.#sentSeq) - this.#firstSeq + 1;
    if (count <= 0) return;
    this.#kept.splice(0, count);
    this.#firstSeq += count;
    this.#onStream = Math.max(0, this.#onStream - count);
  }

  /** Another stream carries the session: everything that is kept is sent again. */
  rewind(): void {
    this.#onStream = 0;
  }

  /** The next items for the stream, of at most `bytesMax` together, but at least one; undefined if there is none. */
  take(bytesMax: number): Numbered<Item> | undefined {
    const first = this.#onStream;
    let bytes = 0;
    let end = first;
    for (; end < this.#kept.length; end += 1) {
      // `end` is below the length.
      bytes += this.#bytesOf(this.#kept[end] as Item);
      if (bytes > bytesMax && end > first) break;
    }
    if (end === first) return undefined;
    this.#onStream = end;
    this.#sentSeq = Math.max(this.#sentSeq, this.#firstSeq + end - 1);
    return { firstSeq: this.#firstSeq + first, items: this.#kept.slice(first, end) };
  }
}

/** Numbers that this side receives. */
export class InQueue {
  #heardSeq = 0;

  /** The highest number that this side has. */
  get heardSeq(): number {
    return this.#heardSeq;
  }

  /** The items that this side does not have yet; undefined if the numbers leave a gap. */
  accept<Item>({ firstSeq, items }: Numbered<Item>): readonly Item[] | undefined {
    if (items.length === 0) return [];
    if (firstSeq < 1 || firstSeq > this.#heardSeq + 1) return undefined;
    const fresh = items.slice(this.#heardSeq + 1 - firstSeq);
    this.#heardSeq += fresh.length;
    return fresh;
  }
}
