// Collects the items of one message of a stream. Every stream uses it, in both directions. No message grows beyond LIMITS.batchBytes unless
// it holds a single item. The sender checks a single item against LIMITS.itemBytes before.

import { LIMITS } from "@pawl/core/data/limits";

export class Batch<Item> {
  readonly items: Item[] = [];
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number = LIMITS.batchBytes) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds an item. False if it belongs into the next message. The first item always fits. */
  add(item: Item, bytes: number): boolean {
    if (this.items.length > 0 && this.#bytes + bytes > this.#bytesMax) return false;
    this.items.push(item);
    this.#bytes += bytes;
    return true;
  }
}

/** Cuts items into messages, in order. */
export function* batches<Item>(
  items: Iterable<Item>,
  bytesOf: (item: Item) => number,
  bytesMax: number = LIMITS.batchBytes,
): Generator<Item[]> {
  let batch = new Batch<Item>(bytesMax);
  for (const item of items) {
    const bytes = bytesOf(item);
    if (batch.add(item, bytes)) continue;
    yield batch.items;
    batch = new Batch<Item>(bytesMax);
    batch.add(item, bytes);
  }
  if (batch.items.length > 0) yield batch.items;
}
