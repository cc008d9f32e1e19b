// The memory store's replacement for transactions. Writers take turns, each changes a staged copy, and unique keys refuse duplicates.

import type { Tables } from "./store.ts";

/** A map that one transaction sees: its own changes over the committed rows. Only `apply` changes the committed map. */
class StagedMap<K, V> {
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

  /** The rows with the changes of this transaction. */
  *values(): Generator<V> {
    for (const [key, value] of this.#committed) if (!this.#changes.has(key)) yield value;
    for (const value of this.#changes.values()) if (value !== undefined) yield value;
  }

  /** Commits. */
  apply(): void {
    for (const [key, value] of this.#changes) {
      if (value === undefined) this.#committed.delete(key);
      else this.#committed.set(key, value);
    }
  }
}

/** Carries the SQLSTATE of PostgreSQL, so callers need not know which store refused. */
export class UniqueViolation extends Error {
  override readonly name = "UniqueViolation";
  readonly code = "23505";
  /** The name of the index in PostgreSQL. */
  readonly constraint: string;

  constructor(constraint: string, key: string) {
    super(`duplicate key violates ${constraint}: ${key}`);
    this.constraint = constraint;
  }
}

/** Runs `act` when it is the caller's turn. */
export type InTurn = <T>(act: () => T | Promise<T>) => Promise<T>;

/** Gives turns in the order of the requests. In PostgreSQL, row locks do this for each row. */
export function createTurns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const turn = last.then(act);
    last = turn.catch(() => {});
    return turn;
  };
}

/** The rows that one transaction sees. `apply` commits them. */
export function stageRows(tables: Tables, now: number) {
  const rows = {
    runs: new StagedMap(tables.runs),
    requests: new StagedMap(tables.requests),
    inputKeys: new StagedMap(tables.inputKeys),
    metadata: new StagedMap(tables.metadata),
    repairs: new StagedMap(tables.repairs),
    threads: new StagedMap(tables.threads),
    threadRuns: new StagedMap(tables.threadRuns),
    definitions: new StagedMap(tables.definitions),
    approvals: new StagedMap(tables.approvals),
    waits: new StagedMap(tables.waits),
    days: new StagedMap(tables.days),
    deadLetters: new StagedMap(tables.deadLetters),
    leases: new StagedMap(tables.leases),
    valueRefs: new StagedMap(tables.stored.refs),
    effects: new StagedMap(tables.effects),
    runWebhooks: new StagedMap(tables.runWebhooks),
    deliveries: new StagedMap(tables.deliveries),
  };
  const apply = (): void => Object.values(rows).forEach((staged) => staged.apply());
  const { workflows, assistants, webhookEndpoints } = tables;
  return { ...rows, workflows, assistants, webhookEndpoints, now, apply };
}
export type StagedRows = Readonly<ReturnType<typeof stageRows>>;

/** A key of two parts. No id contains a line break. */
export const pairKey = (first: string, second: string): string => `${first}\n${second}`;
