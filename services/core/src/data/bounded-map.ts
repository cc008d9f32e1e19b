// A map with a bound, for caches. The entries that were set longest ago make room for new ones. A hit needs no bookkeeping, so a cache
// sometimes makes a value again that is still in use.

export class BoundedMap<Key, Value> {
  readonly #max: number;
  readonly #maxWeight: number;
  readonly #entries = new Map<Key, { readonly value: Value; readonly weight: number }>();
  #weight = 0;

  /** Holds at most `max` entries, and entries of at most `maxWeight` in all. The newest entry stays even if it is heavier. */
  constructor(max: number, maxWeight = Infinity) {
    this.#max = max;
    this.#maxWeight = maxWeight;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  set(key: Key, value: Value, weight = 0): void {
    this.delete(key);
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#max && this.#weight <= this.#maxWeight) return;
      if (oldest !== key) this.delete(oldest);
    }
  }

  delete(key: Key): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    this.#entries.delete(key);
  }

  /** The value of a key. Makes and keeps it if there is none. */
  ensure(key: Key, make: (key: Key) => Value): Value {
    const found = this.get(key);
    if (found !== undefined) return found;
    const made = make(key);
    this.set(key, made);
    return made;
  }
}
