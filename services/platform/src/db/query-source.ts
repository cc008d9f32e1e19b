// A database of a user, queried one statement at a time. The database itself enforces the mode: a read-only transaction that is always
// rolled back, a statement timeout, and pages up to a limit of rows and bytes. An abort cancels the statement on the server. Race: a cancel
// arrives late. Its connection is then still held or already closed, never in use by another statement.

import { Client, Pool, type PoolClient } from "pg";
import { isAway, sqlState } from "./failure.ts";
import { PagedQuery, type PagedResult } from "./paged-query.ts";
import { ensureLedger, LedgerBroom, record, recorded } from "./query-ledger.ts";
import { parameterText } from "./row-values.ts";

export interface QuerySourceOptions {
  readonly url: string;
  readonly mode: "read_only" | "read_write";
  readonly poolSize: number;
  /** The name of the connections, for the database's operator. */
  readonly name: string;
  /** How long records of the ledger are kept. */
  readonly ledgerDays: number;
}

export interface AskedQuery {
  /** One statement. */
  readonly sql: string;
  /** JSON values for $1, $2, … */
  readonly parameters: readonly unknown[];
  readonly maxRows: number;
  readonly bytesMax: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The key under which a writing statement is recorded in its own transaction. A repeat gets the record. */
  readonly onceKey?: string;
}

export interface QueryAnswer extends PagedResult {
  readonly ok: true;
}

export interface QueryFailure {
  readonly ok: false;
  /**
   * `unavailable`: there is no connection, or it broke. `transient`: the same statement may work later. `refused`: the statement is wrong.
   * `timeout`: the statement took too long. `cancelled`: the signal aborted it.
   */
  readonly kind: "unavailable" | "transient" | "refused" | "timeout" | "cancelled";
  readonly message: string;
  readonly sqlState?: string;
}

export interface QuerySource {
  /** Never rejects. */
  run(asked: AskedQuery): Promise<QueryAnswer | QueryFailure>;
  end(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** The server's own timeout fires first. */
const GRACE_MS = 500;
/** The settings that the decoders of row-values.ts expect. They override the database's own settings. */
const SESSION =
  "set local timezone='UTC'; set local datestyle='ISO, YMD'; set local bytea_output='hex'; set local extra_float_digits=1";
/** Releases the locks that a statement may have left in the session. */
const TIDY = "select pg_advisory_unlock_all()";

/** Opens a source. Connections are made when they are needed. */
export function openQuerySource(options: QuerySourceOptions): QuerySource {
  const pool = new Pool({
    connectionString: options.url,
    max: options.poolSize,
    application_name: options.name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  pool.on("error", () => {
    // An idle connection died with its server. The next query opens another.
  });
  const broom = new LedgerBroom(options.ledgerDays, Date.now);
  return { run: (asked) => run(pool, { ...options, broom }, asked), end: () => pool.end() };
}

type Source = QuerySourceOptions & { readonly broom: LedgerBroom };

async function run(
  pool: Pool,
  options: Source,
  asked: AskedQuery,
): Promise<QueryAnswer | QueryFailure> {
  const late = AbortSignal.timeout(asked.timeoutMs + GRACE_MS);
  const signal = AbortSignal.any([asked.signal, late]);
  const stopped = (): QueryFailure | undefined => {
    if (asked.signal.aborted) return { ok: false, kind: "cancelled", message: "was cancelled" };
    return late.aborted ? tooSlow(asked) : undefined;
  };
  let client: PoolClient;
  try {
    client = await connected(pool, signal);
  } catch (error) {
    return stopped() ?? unavailable(error);
  }
  const work = { client, options, asked, signal };
  let isClean = false;
  let cancelling: Promise<void> | undefined;
  const cancel = (): void => void (cancelling = cancelBackend(options, pidOf(client)));
  client.on("error", survive);
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const result = await transact(work);
    isClean = !signal.aborted;
    return { ok: true, ...result };
  } catch (error) {
    const failure = stopped() ?? failureOf(error, asked);
    isClean = failure.kind === "refused" && (await rollBack(client)) && !signal.aborted;
    return failure;
  } finally {
    signal.removeEventListener("abort", cancel);
    // The connection is returned only after no cancel can reach it.
    await cancelling;
    client.off("error", survive);
    client.release(!isClean);
  }
}

interface Work {
  readonly client: PoolClient;
  readonly options: Source;
  readonly asked: AskedQuery;
  readonly signal: AbortSignal;
}

async function transact({ client, options, asked, signal }: Work): Promise<PagedResult> {
  const isReadOnly = options.mode === "read_only";
  const timeoutMs = Math.ceil(asked.timeoutMs);
  const isThere = asked.onceKey !== undefined && (await ensureLedger(client));
  await client.query(
    `begin transaction ${isReadOnly ? "read only" : "read write"}; set local statement_timeout=${timeoutMs}; ` +
      `set local idle_in_transaction_session_timeout=${timeoutMs + GRACE_MS}; ${SESSION}`,
  );
  signal.throwIfAborted();
  const { sql, parameters, maxRows, bytesMax, onceKey } = asked;
  const done = onceKey === undefined ? undefined : await recorded(client, onceKey, isThere);
  if (done !== undefined) {
    await client.query(`rollback; ${TIDY}`);
    return done;
  }
  const statement = { text: sql, values: parameters.map(parameterText) };
  const query = new PagedQuery(statement, { rowsMax: maxRows, bytesMax });
  client.query(query);
  const result = await query.done;
  if (onceKey !== undefined && result.isTooLarge) {
    // A write that cannot be recorded must not happen.
    await client.query(`rollback; ${TIDY}`);
    return result;
  }
  if (onceKey !== undefined) await record(client, onceKey, { result, isThere });
  // A read changes nothing in the session, not even a setting.
  await client.query(isReadOnly ? `rollback; ${TIDY}` : `commit; reset all; ${TIDY}`);
  if (onceKey !== undefined && isThere && !isReadOnly) await options.broom.sweep(client);
  return result;
}

/** A connection. If it opens after the abort, it is returned at once. */
async function connected(pool: Pool, signal: AbortSignal): Promise<PoolClient> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  const coming = pool.connect();
  try {
    return await Promise.race([coming, aborted.promise]);
  } catch (error) {
    coming.then(
      (client) => client.release(),
      () => undefined,
    );
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Cancels a backend's statement over a connection of its own. If the cancel fails, the statement timeout ends the statement. */
async function cancelBackend({ url, name }: QuerySourceOptions, pid: number): Promise<void> {
  const client = new Client({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on("error", survive);
  try {
    await client.connect();
    await client.query("select pg_cancel_backend($1)", [pid]);
  } catch {
    // The connection of the statement is closed in any case.
  } finally {
    await client.end().catch(survive);
  }
}

const rollBack = (client: PoolClient): Promise<boolean> =>
  client.query(`rollback; ${TIDY}`).then(
    () => true,
    () => false,
  );

const survive = (): void => {
  // The current query rejects with the same error.
};

/** The driver has this field, but its types do not. */
const pidOf = (client: PoolClient): number =>
  "processID" in client && typeof client.processID === "number" ? client.processID : 0;

const tooSlow = ({ timeoutMs }: AskedQuery): QueryFailure => ({
  ok: false,
  kind: "timeout",
  message: `the query took longer than ${timeoutMs} ms`,
});

/** The result holds only a code, because the driver's message may contain the address. */
function unavailable(error: unknown): QueryFailure {
  const failure = { ok: false, kind: "unavailable" } as const;
  const message = "the data source cannot be reached";
  const state = sqlState(error);
  if (state === undefined) return { ...failure, message };
  return { ...failure, message: `${message}: ${state}`, sqlState: state };
}

/** Deadlocks, serialisation failures, connections, shutdowns and lack of resources may pass. Missing parameters do not pass. */
const TRANSIENT = /^(08(?!P01)|40|53|57)/;
const STATEMENT_TIMEOUT = "57014";

function failureOf(error: unknown, asked: AskedQuery): QueryFailure {
  const state = sqlState(error);
  if (state === STATEMENT_TIMEOUT) return { ...tooSlow(asked), sqlState: state };
  const message = error instanceof Error ? error.message : "the query failed";
  // An SQLSTATE has five characters. A code of the socket has more.
  if (state?.length === 5) {
    const kind = TRANSIENT.test(state) ? "transient" : "refused";
    return { ok: false, kind, message, sqlState: state };
  }
  if (state !== undefined || isAway(error)) return unavailable(error);
  return { ok: false, kind: "refused", message };
}
