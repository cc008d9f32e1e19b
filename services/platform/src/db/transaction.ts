// A transaction on a pooled connection. Contention with another writer is answered by running the work again from its start,
// so the work must have no effect outside the transaction.

import { failureKind, isContention, lastFault } from "./failure.ts";
import type { Queryable } from "./sql.ts";

/** A connection of a pool, to be given back. */
export interface Connection extends Queryable {
  /** `broken` throws it away: its transaction's state is not known. */
  release(broken?: boolean): void;
}

/** Anything that hands out connections. */
export interface Connectable {
  connect(): Promise<Connection>;
}

const ATTEMPTS_MAX = 5;

export interface TransactionOptions {
  /** Which failures mean "run it again"; contention unless told. */
  readonly mayRetry?: (error: unknown) => boolean;
}

/** Commits what `work` did, or nothing. Runs it again, up to five times in all, when others were in its way. */
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
    // A session that refuses to write may do so for as long as it lives: another one may not.
    broken = !(await rollBack(connection)) || failureKind(error) === "store";
    throw error;
  } finally {
    connection.release(broken);
  }
}

/** True when the connection is clean again; a connection that cannot even roll back is of no more use. */
async function rollBack(connection: Connection): Promise<boolean> {
  try {
    await connection.query({ text: "rollback" });
    return true;
  } catch {
    return false;
  }
}
