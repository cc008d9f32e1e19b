// What the memory store has in place of transactions: writers take turns, each changes a staged copy, and unique keys refuse.

/** A map as one transaction sees it: its own changes over what is committed. Only `apply` changes the committed map. */
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

/** Carries the SQLSTATE of Postgres, so that callers need not know which store refused. */
export class UniqueViolation extends Error {
  override readonly name = "UniqueViolation";
  readonly code = "23505";
  /** The index that refused, by its name in Postgres. */
  readonly constraint: string;

  constructor(constraint: string, key: string) {
    super(`duplicate key violates ${constraint}: ${key}`);
    this.constraint = constraint;
  }
}

/** Waits for its turn, then holds it until the caller calls the function it gives. */
export type TakeTurn = () => Promise<() => void>;

/** Turns in the order in which writers ask: row locks do this in Postgres, row by row. */
export function createTurns(): TakeTurn {
  let last: Promise<void> = Promise.resolve();
  return async () => {
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await before;
    return resolve;
  };
}
