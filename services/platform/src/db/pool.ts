// Connections. `openPool` is for reads that may wait their turn; `openPipeline` is the tick's own connection, on which statements are sent
// without waiting for earlier answers.

import { Socket } from "node:net";
import { Client, Pool as ClientPool, types } from "pg";
import { isPassing, lastFault, storeFault } from "./failure.ts";
import { DEFAULT_SCHEMAS, type Schemas, searchPath } from "../config/schemas.ts";
import type { Queryable } from "./sql.ts";
import { withTransaction, type Connectable, type Connection } from "./transaction.ts";

// bigint columns are counters far below 2^53, so they can be numbers everywhere.
types.setTypeParser(types.builtins.INT8, Number);

const STATEMENT_TIMEOUT_MS = 5_000;
const LOCK_TIMEOUT_MS = 2_000;
/**
 * All work waits for the tick, so a tick hardly waits for a row that another session holds: it then sorts its inputs out
 * (scheduler/src/tick/redo.ts). A longer wait would gain nothing: a run whose row was written meanwhile has a new version anyway.
 */
const LOCK_IN_TICK_MS = 250;
/** How often a single statement is tried if other sessions block it. */
const QUERY_TRIES_MAX = 2;
const IDLE_IN_TRANSACTION_MS = 5_000;
/** A tick that stalls in its transaction blocks every other scheduler with work on the same runs. */
const IDLE_IN_TICK_MS = 2_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** A server that does not answer within its own limit is gone, even if its connection looks healthy. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 2_000;

// A statement prepared while its table was empty keeps its sequential scan for ever: throughput fell by two thirds within seconds as the
// tables grew. Every statement here has an index, so the other plans are switched off. With the plans pinned, planning each batch again
// would find nothing better: generic plans took a tick of one node from 1.66 to 1.03 ms.
const PINNED_PLANS = [
  ...["enable_seqscan", "enable_hashjoin", "enable_mergejoin", "enable_bitmapscan"].map(
    (setting) => `-c ${setting}=off`,
  ),
  "-c plan_cache_mode=force_generic_plan",
].join(" ");

const limits = (schemas: Schemas, idleMs: number, lockMs: number): string =>
  `-c search_path=${searchPath(schemas)} -c statement_timeout=${STATEMENT_TIMEOUT_MS} -c lock_timeout=${lockMs} -c idle_in_transaction_session_timeout=${idleMs}`;

export interface Pool extends Queryable, Connectable {
  /** Commits all or nothing of `work`, which may run more than once. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  end(): Promise<void>;
}

/** A bounded pool for reads and rare writes. Failures of the database become STORE_UNAVAILABLE; the loss of an idle connection does no harm. */
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
  const pool = new ClientPool({
    connectionString: url,
    max: options.max,
    application_name: options.name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    ...(options.keepsIdle === true ? { idleTimeoutMillis: 0 } : {}),
    options: `${limits(options.schemas ?? DEFAULT_SCHEMAS, IDLE_IN_TRANSACTION_MS, LOCK_TIMEOUT_MS)} ${PINNED_PLANS}`,
  });
  pool.on("error", () => {
    // An idle connection died with its server; the next query opens another.
  });
  return {
    query: (config) => patiently(() => pool.query(config)),
    connect: () => connect(pool),
    transaction: (work) => withTransaction({ connect: () => connect(pool) }, work),
    end: () => pool.end(),
  };
}

/** Runs a statement that is a transaction of its own, and again if other sessions blocked it: then none of it was done. */
async function patiently<T>(query: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await query();
    } catch (error) {
      if (tries >= QUERY_TRIES_MAX || !isPassing(error)) throw lastFault(error);
    }
  }
}

/** A connection for one transaction. If it dies while in use, the current query fails, and the process does not. */
async function connect(pool: ClientPool): Promise<Connection> {
  try {
    const client = await pool.connect();
    const survive = (): void => {
      // The current query rejects with the same error.
    };
    client.on("error", survive);
    return {
      query: async (config) => {
        try {
          return await client.query(config);
        } catch (error) {
          throw storeFault(error);
        }
      },
      release: (broken = false) => {
        client.off("error", survive);
        client.release(broken);
      },
    };
  } catch (error) {
    throw storeFault(error);
  }
}

/** The tick's connection. */
export interface Pipeline {
  readonly client: Client;
  /** The name of this process in notifications to others. */
  readonly id: string;
  /**
   * Holds everything that is sent in this turn of the event loop and writes it at the end: the statements of a tick then cost one system
   * call instead of one each, which was a sixth of the scheduler's CPU.
   */
  gather(): void;
  /** Ends the connection at once; every pending query rejects. */
  cut(): void;
}

/** Opens the tick's connection. `onBroken` is called once when it dies; every pending query rejects. */
export async function openPipeline(
  url: string,
  options: {
    readonly name: string;
    readonly id: string;
    readonly schemas?: Schemas | undefined;
    readonly onBroken: () => void;
  },
): Promise<Pipeline> {
  const socket = new Socket();
  const client = new Client({
    connectionString: url,
    application_name: options.name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    pipeline: true,
    options: `${limits(options.schemas ?? DEFAULT_SCHEMAS, IDLE_IN_TICK_MS, LOCK_IN_TICK_MS)} ${PINNED_PLANS}`,
    stream: () => socket,
  });
  let broken = false;
  const onBroken = (): void => {
    if (broken) return;
    broken = true;
    options.onBroken();
  };
  client.on("error", onBroken);
  client.on("end", onBroken);
  await client.connect();
  const gather = (): void => {
    socket.cork();
    process.nextTick(() => socket.uncork());
  };
  return { client, id: options.id, gather, cut: () => socket.destroy() };
}
