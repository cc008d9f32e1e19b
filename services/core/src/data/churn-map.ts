// A map for what comes and goes all the time. It is a Map of places beside an array of values, because of how V8 collects: a Map
// that has grown old puts every table it outgrows among the old objects, still full, so whatever passed through it stays in memory
// until the next full collection, with all it refers to. That was 3 KiB of every node in an executor: what survives to a full
// collection fell from 44 to 24 MiB per 15,000 nodes. Here such a table holds nothing but keys and numbers; keys must therefore be
// strings or numbers.

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

  /** A key that is here already keeps its turn, as in a Map. */
  set(key: Key, value: Value): void {
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.#free.pop() ?? this.#values.length;
      this.#places.set(key, place);
    }
    this.#values[place] = value;
  }

  /** Whether it was here. */
  delete(key: Key): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    this.#places.delete(key);
    this.#values[place] = undefined;
    this.#free.push(place);
    return true;
  }

  /** In the order in which they came; what is deleted meanwhile is left out. */
  keys(): IterableIterator<Key> {
    return this.#places.keys();
  }

  /** In the order in which they came; what is deleted meanwhile is left out. */
  *values(): Generator<Value> {
    // A key's place holds its value.
    for (const place of this.#places.values()) yield this.#values[place] as Value;
  }
}
