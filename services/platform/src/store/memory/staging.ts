// The memory store's replacement for transactions: writers take turns, each changes a staged copy, and unique keys refuse.

/** A map as one transaction sees it: its own changes over the committed rows. Only `apply` changes the committed map. */
export class StagedMap<K, V> {
  readonly #committed: Map<K, V>;
  /** Undefined marks a row that this transaction deleted. */
  readonly #changes = new Map<K, V | undefined>();

  constructor(committed: Map<K, V>) {
    this.#committed = committed;
  }

  get(key: K): V | undefined {
    return this.#changes.has(key) ? this.#changes.get(key) : this.#committed.get(key);
  }

  /** @throws UniqueViolation if the key is taken */
  insert(key: K, value: V, constraint: string): void {
    if (this.get(key) !== undefined) throw new UniqueViolation(constraint, String(key));
    this.set(key, value);
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

/** Acts when it is the caller's turn. */
export type InTurn = <T>(act: () => T | Promise<T>) => Promise<T>;

/** Turns in the order in which writers ask: row locks do this in Postgres, row by row. */
export function createTurns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const turn = last.then(act);
    last = turn.catch(() => {});
    return turn;
  };
}
