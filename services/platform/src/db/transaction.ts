// A transaction on a pooled connection. After contention with another writer the work runs again from its start, so it must have no effect
// outside the transaction.

import { failureKind, isContention, lastFault } from "./failure.ts";
import type { Queryable } from "./sql.ts";

/** A connection of a pool; the user must release it. */
export interface Connection extends Queryable {
  /** `broken` closes the connection, because the state of its transaction is unknown. */
  release(broken?: boolean): void;
}

/** Anything that hands out connections. */
export interface Connectable {
  connect(): Promise<Connection>;
}

const ATTEMPTS_MAX = 5;

export interface TransactionOptions {
  /** Which failures mean "run it again"; contention by default. */
  readonly mayRetry?: (error: unknown) => boolean;
}

/** Commits all or nothing of `work`. Runs it again, up to five times in all, if other sessions were in its way. */
export async function withTransaction<T>(
  pool: Connectable,
  work: (tx: Queryable) => Promise<T>,
  { mayRetry = isContention }: TransactionOptions = {},
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transactOnce(pool, work);
    } catch (error) {
      if (attempt >= ATTEMPTS_MAX || !mayRetry(error)) throw lastFault(error);
    }
  }
}

async function transactOnce<T>(pool: Connectable, work: (tx: Queryable) => Promise<T>): Promise<T> {
  const connection = await pool.connect();
  let broken = false;
  try {
    await connection.query({ text: "begin" });
    const result = await work(connection);
    await connection.query({ text: "commit" });
    return result;
  } catch (error) {
    // A session that refuses writes may do so for its whole life; another session may accept them.
    broken = !(await rollBack(connection)) || failureKind(error) === "store";
    throw error;
  } finally {
    connection.release(broken);
  }
}

/** True if the connection is clean again; a connection that cannot even roll back is useless. */
async function rollBack(connection: Connection): Promise<boolean> {
  try {
    await connection.query({ text: "rollback" });
    return true;
  } catch {
    return false;
  }
}
