// Connections for reads and rare writes, which may wait for a free connection. The tick has its own connection (tick-connection.ts).

import { Pool as ClientPool, types } from "pg";
import { failureKind, isContention, isPassing, lastFault, storeFault } from "./failure.ts";
import { DEFAULT_SCHEMAS, type Schemas, searchPath } from "../config/schemas.ts";
import type { Queryable } from "./query.ts";

// bigint columns are counters far below 2^53, so they can be numbers everywhere.
types.setTypeParser(types.builtins.INT8, Number);

const STATEMENT_TIMEOUT_MS = 5_000;
const LOCK_TIMEOUT_MS = 2_000;
/** How often a single statement, and a transaction, is tried if other sessions block it. */
const QUERY_TRIES_MAX = 2;
const TRANSACTION_TRIES_MAX = 5;
const IDLE_IN_TRANSACTION_MS = 5_000;
export const CONNECT_TIMEOUT_MS = 5_000;
/** A server that does not answer within its own limit is down, even if its connection looks healthy. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 2_000;

// A statement that was prepared while its table was empty keeps its sequential scan. As the tables grew, throughput fell by two thirds
// within seconds. Every statement here has an index, so the other plans are switched off. Then a new plan for each batch would find nothing
// better: generic plans took a tick of one node from 1.66 to 1.03 ms.
const PINNED_PLANS = [
  ...["enable_seqscan", "enable_hashjoin", "enable_mergejoin", "enable_bitmapscan"].map(
    (setting) => `-c ${setting}=off`,
  ),
  "-c plan_cache_mode=force_generic_plan",
].join(" ");

/** The settings of a session. */
export const sessionOptions = (
  schemas: Schemas,
  { idleMs, lockMs }: { readonly idleMs: number; readonly lockMs: number },
): string =>
  `-c search_path=${searchPath(schemas)} -c statement_timeout=${STATEMENT_TIMEOUT_MS} -c lock_timeout=${lockMs} -c idle_in_transaction_session_timeout=${idleMs} ${PINNED_PLANS}`;

/** A connection of a pool. The user must release it. */
interface Connection extends Queryable {
  /** `broken` closes the connection, because the state of its transaction is unknown. */
  release(broken?: boolean): void;
}

export interface Pool extends Queryable {
  connect(): Promise<Connection>;
  /**
   * Commits all or nothing of `work`. After a failure that `mayRetry` names (default: contention) it runs `work` again, at most five times
   * in all. So `work` must have no effect outside the transaction.
   */
  transaction<T>(
    work: (tx: Queryable) => Promise<T>,
    mayRetry?: (error: unknown) => boolean,
  ): Promise<T>;
  /** Its connections: how many there may be, how many are in use, and how many are open and not in use. */
  usage(): PoolUsage;
  end(): Promise<void>;
}

export interface PoolUsage {
  readonly size: number;
  readonly inUse: number;
  readonly idle: number;
}

/**
 * A bounded pool for reads and rare writes. Failures of the database become STORE_UNAVAILABLE. The loss of an idle connection is harmless.
 */
export function openPool(
  url: string,
  options: {
    readonly max: number;
    readonly name: string;
    readonly schemas?: Schemas | undefined;
    /** Whether idle connections stay open. */
    readonly keepsIdle?: boolean;
  },
): Pool {
  const limits = { idleMs: IDLE_IN_TRANSACTION_MS, lockMs: LOCK_TIMEOUT_MS };
  const pool = new ClientPool({
    connectionString: url,
    max: options.max,
    application_name: options.name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    ...(options.keepsIdle === true ? { idleTimeoutMillis: 0 } : {}),
    options: sessionOptions(options.schemas ?? DEFAULT_SCHEMAS, limits),
  });
  pool.on("error", () => {
    // An idle connection died with its server. The next query opens another.
  });
  return {
    // If other sessions blocked a statement that is its own transaction, the database did none of it.
    query: (config) => patiently(() => pool.query(config), isPassing, QUERY_TRIES_MAX),
    connect: () => connect(pool),
    transaction: (work, mayRetry = isContention) =>
      patiently(() => transact(pool, work), mayRetry, TRANSACTION_TRIES_MAX),
    usage: () => ({
      size: options.max,
      inUse: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
    }),
    end: () => pool.end(),
  };
}

async function patiently<T>(
  act: () => Promise<T>,
  mayRetry: (error: unknown) => boolean,
  triesMax: number,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act();
    } catch (error) {
      if (tries >= triesMax || !mayRetry(error)) throw lastFault(error);
    }
  }
}

const fail = (error: unknown): never => {
  throw storeFault(error);
};

/** A connection for one transaction. If it dies while in use, the current query fails, and the process does not. */
async function connect(pool: ClientPool): Promise<Connection> {
  const client = await pool.connect().catch(fail);
  const survive = (): void => {
    // The current query rejects with the same error.
  };
  client.on("error", survive);
  return {
    query: (config) => client.query(config).catch(fail),
    release: (broken = false) => {
      client.off("error", survive);
      client.release(broken);
    },
  };
}

async function transact<T>(pool: ClientPool, work: (tx: Queryable) => Promise<T>): Promise<T> {
  const connection = await connect(pool);
  const send = (text: string) => connection.query({ text });
  let broken = false;
  try {
    await send("begin");
    const result = await work(connection);
    await send("commit");
    return result;
  } catch (error) {
    // A connection that cannot roll back is useless. A session that refuses writes may do so for its whole life, while another may accept
    // them.
    const isRolledBack = await send("rollback").then(
      () => true,
      () => false,
    );
    broken = !isRolledBack || failureKind(error) === "store";
    throw error;
  } finally {
    connection.release(broken);
  }
}
