// The two numbered queues of a session of the handler protocol, as pure data: the host has both, and so has a process in TypeScript. A
// session outlives its streams, so each side keeps an item until the other side has it, and writes it again with its old number.
//
// The races it survives: a stream breaks after an item was written and before it arrived; `rewind` writes it again. It breaks after the
// item arrived and before heard_seq came back; the receiver drops the repeat by its number. An item that waits has no number yet, so the
// sender can withdraw it and leaves no gap.

import { Batch } from "./batch.ts";

/** Items of one message: the receiver handles a message in one turn. */
const ITEMS_MAX = 1_000;

interface Waiting<Item> {
  readonly item: Item;
  readonly onWritten: (() => void) | undefined;
}

/** One message's worth of items. */
export interface Numbered<Item> {
  /** The number of the first item. */
  readonly firstSeq: number;
  readonly items: Item[];
}

/** The sender's queue. */
export class SendQueue<Item> {
  readonly #bytesOf: (item: Item) => number;
  /** Written items that the other side may not have, from number #heard + 1 on. */
  #written: Item[] = [];
  /** How many of #written this stream carries already. */
  #cursor = 0;
  #heard = 0;
  #waiting: Waiting<Item>[] = [];

  constructor(bytesOf: (item: Item) => number) {
    this.#bytesOf = bytesOf;
  }

  /** Items that the other side does not have, as far as is known. */
  get length(): number {
    return this.#written.length + this.#waiting.length;
  }

  /** Adds an item. `onWritten` is called when it gets its number. */
  push(item: Item, onWritten?: () => void): void {
    this.#waiting.push({ item, onWritten });
  }

  /** Removes an item that has no number yet; false if it has one. */
  withdraw(item: Item): boolean {
    const at = this.#waiting.findIndex((each) => each.item === item);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }

  /** The other side has every item up to this number. False if no such item was written. */
  acknowledge(seq: number): boolean {
    if (seq > this.#heard + this.#written.length) return false;
    const count = Math.max(0, seq - this.#heard);
    this.#written.splice(0, count);
    this.#heard += count;
    this.#cursor = Math.max(0, this.#cursor - count);
    return true;
  }

  /** A new stream begins: every item that the other side does not have is written again. */
  rewind(): void {
    this.#cursor = 0;
  }

  /** The items of the next message, of at most so many bytes but at least one; undefined if all are written. */
  take(bytesMax?: number): Numbered<Item> | undefined {
    const batch = new Batch<Item>(bytesMax);
    const firstSeq = this.#heard + this.#cursor + 1;
    const fits = (item: Item): boolean =>
      batch.items.length < ITEMS_MAX && batch.add(item, this.#bytesOf(item));
    for (; this.#cursor < this.#written.length; this.#cursor += 1) {
      const item = this.#written[this.#cursor];
      if (item !== undefined && !fits(item)) return { firstSeq, items: batch.items };
    }
    let count = 0;
    for (const { item, onWritten } of this.#waiting) {
      if (!fits(item)) break;
      count += 1;
      this.#written.push(item);
      onWritten?.();
    }
    this.#waiting.splice(0, count);
    this.#cursor = this.#written.length;
    return batch.items.length === 0 ? undefined : { firstSeq, items: batch.items };
  }
}

/** The receiver's place in the other side's queue. */
export class ReceiveQueue {
  /** The highest number that was received. */
  heard = 0;

  /** How many items at the beginning of a message are repeats; undefined if numbers are missing before it. */
  repeats(firstSeq: number, count: number): number | undefined {
    if (count === 0) return 0;
    if (firstSeq < 1 || firstSeq > this.heard + 1) return undefined;
    return Math.min(count, this.heard + 1 - firstSeq);
  }
}
