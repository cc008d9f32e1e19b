// A map whose entries change all the time: a Map of positions beside an array of values. The reason is V8's garbage collection. When an old
// Map outgrows a table, V8 moves that table, still full, to the old objects. So all its former entries stay in memory until the next full
// collection. In an executor that was 3 KiB per node: the memory that survives to a full collection fell from 44 to 24 MiB per 15,000
// nodes. Here such a table holds only keys and numbers, so keys must be strings or numbers.

export class ChurnMap<Key extends string | number, Value> {
  readonly #places = new Map<Key, number>();
  readonly #values: (Value | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#places.size;
  }

  has(key: Key): boolean {
    return this.#places.has(key);
  }

  get(key: Key): Value | undefined {
    const place = this.#places.get(key);
    return place === undefined ? undefined : this.#values[place];
  }

  /** A key that is already present keeps its position, as in a Map. */
  set(key: Key, value: Value): void {
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.#free.pop() ?? this.#values.length;
      this.#places.set(key, place);
    }
    this.#values[place] = value;
  }

  /** Whether the key was present. */
  delete(key: Key): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    this.#places.delete(key);
    this.#values[place] = undefined;
    this.#free.push(place);
    return true;
  }

  /** The keys in order of insertion. Entries deleted during the iteration are left out. */
  keys(): IterableIterator<Key> {
    return this.#places.keys();
  }

  /** The values in order of insertion. Entries deleted during the iteration are left out. */
  *values(): Generator<Value> {
    // The position of a key holds its value.
    for (const place of this.#places.values()) yield this.#values[place] as Value;
  }
}
