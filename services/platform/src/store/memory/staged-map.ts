// A map as one transaction sees it: its own changes over what is committed. Nothing reaches the committed map before `apply`.

export class StagedMap<K, V> {
  readonly #committed: Map<K, V>;
  /** Undefined stands for a row this transaction deleted. */
  readonly #changes = new Map<K, V | undefined>();

  constructor(committed: Map<K, V>) {
    this.#committed = committed;
  }

  get(key: K): V | undefined {
    return this.#changes.has(key) ? this.#changes.get(key) : this.#committed.get(key);
  }

  has(key: K): boolean {
    return this.get(key) !== undefined;
  }

  set(key: K, value: V): void {
    this.#changes.set(key, value);
  }

  delete(key: K): void {
    this.#changes.set(key, undefined);
  }

  /** Commits. */
  apply(): void {
    for (const [key, value] of this.#changes) {
      if (value === undefined) this.#committed.delete(key);
      else this.#committed.set(key, value);
    }
  }
}
