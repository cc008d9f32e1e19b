// A ledger of Pawl in the database of a user. It has one row for every statement that wrote, in the transaction of that statement. So the
// statement and its record commit together, and a repeat gets the record: exactly once, even if a process dies in between.
//
// Races. Two executors use the same key: one waits for the other on an advisory lock and then finds its record. The primary key is the
// second defence. Two executors create the table or delete old records at once: each skips the work of the other.

import type { PoolClient } from "pg";
import { sqlState } from "./failure.ts";
import type { PagedResult } from "./paged-query.ts";

/** The ledger has its own schema, which is easy to find, grant and clean. */
export const QUERY_LEDGER = "pawl_effects.ledger";

const CREATE = `
set local lock_timeout = '1s';
create schema if not exists pawl_effects;
create table if not exists ${QUERY_LEDGER} (
  effect_key text primary key,
  result json not null,
  at timestamptz not null default now()
);
create index if not exists ledger_at on ${QUERY_LEDGER} (at)`;
const INSUFFICIENT_PRIVILEGE = "42501";
/** Another session created the schema or the table at the same moment, or held a lock for too long. */
const RACED: ReadonlySet<string | undefined> = new Set(["23505", "42P06", "42P07", "55P03"]);
const TRIES_MAX = 3;

/** The ledger is needed but missing, and the role may not create it. */
class LedgerMissing extends Error {
  override readonly name = "LedgerMissing";

  constructor() {
    super(
      `the statement wrote, but its role may not create ${QUERY_LEDGER}, which keeps it from writing twice; nothing was changed. ` +
        "Create it as docs/guides/retries-and-effects.md shows, or set effect: none on the node",
    );
  }
}

/** Whether the ledger exists. Creates it if needed and allowed. Call it outside any transaction. */
export async function ensureLedger(client: PoolClient): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    const { rows } = await client.query<{ is_there: boolean }>(
      "select to_regclass($1) is not null as is_there",
      [QUERY_LEDGER],
    );
    if (rows[0]?.is_there === true) return true;
    try {
      await client.query(CREATE);
    } catch (error) {
      if (sqlState(error) === INSUFFICIENT_PRIVILEGE) return false;
      if (!RACED.has(sqlState(error)) || tries >= TRIES_MAX) throw error;
    }
  }
}

/** Waits for a statement with the same key and returns the record of that key, if there is one. Call it inside the transaction. */
export async function recorded(
  client: PoolClient,
  key: string,
  isThere: boolean,
): Promise<PagedResult | undefined> {
  await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [key]);
  if (!isThere) return undefined;
  const { rows } = await client.query<{ result: PagedResult }>(
    `select result from ${QUERY_LEDGER} where effect_key = $1`,
    [key],
  );
  return rows[0]?.result;
}

/** Records the result of this transaction's statement, if it wrote anything. @throws LedgerMissing */
export async function record(
  client: PoolClient,
  key: string,
  { result, isThere }: { readonly result: PagedResult; readonly isThere: boolean },
): Promise<void> {
  const { rows } = await client.query<{ wrote: boolean }>(
    "select pg_current_xact_id_if_assigned() is not null as wrote",
  );
  if (rows[0]?.wrote !== true) return;
  if (!isThere) throw new LedgerMissing();
  const text = `insert into ${QUERY_LEDGER} (effect_key, result) values ($1, $2)`;
  await client.query(text, [key, JSON.stringify(result)]);
}

/** How many records are deleted at a time. Later statements delete the rest. */
const FORGET_MAX = 1_000;
const FORGET_TIMEOUT_MS = 2_000;
const FORGET_EVERY_MS = 3_600_000;

/**
 * Deletes records that no repeat can need, between the statements that write. It runs at most once an hour, and again at once while there
 * are many records. So an idle database gets no queries, and the ledger holds only the writes of its retention time.
 */
export class LedgerBroom {
  readonly #days: number;
  readonly #now: () => number;
  #nextAt = 0;

  constructor(days: number, now: () => number) {
    this.#days = days;
    this.#now = now;
  }

  /** Runs on a connection between two transactions. If the role may not delete, the ledger keeps all records. The operator decides that. */
  async sweep(client: PoolClient): Promise<void> {
    if (this.#now() < this.#nextAt) return;
    this.#nextAt = this.#now() + FORGET_EVERY_MS;
    try {
      await client.query(`begin; set local statement_timeout=${FORGET_TIMEOUT_MS}`);
      const { rowCount } = await client.query(
        `delete from ${QUERY_LEDGER} where effect_key in (
           select effect_key from ${QUERY_LEDGER} where at < now() - make_interval(days => $1)
           order by at limit $2 for update skip locked
         )`,
        [this.#days, FORGET_MAX],
      );
      await client.query("commit");
      if (rowCount === FORGET_MAX) this.#nextAt = 0;
    } catch {
      await client.query("rollback");
    }
  }
}
