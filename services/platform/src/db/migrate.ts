// Applies the forward-only migrations, each in a transaction and one command after the other. Race: several processes start at once. A lock
// on the bookkeeping table lets one of them do the work. The others wait and then find nothing to do. That lock delays only other
// migrations. For locks on Pawl's own tables the migration waits only briefly, several times (lock-wait.ts).

import { readdir, readFile } from "node:fs/promises";
import { Client } from "pg";
import { LOCK_WAIT_MS, type OnWait, untilLocked } from "./lock-wait.ts";
import { DEFAULT_SCHEMAS, type Schemas } from "../config/schemas.ts";
import { text } from "./columns.ts";
import { sqlState } from "./failure.ts";
import { queriesBeside, type Queryable, run } from "./query.ts";
import { statementsOf } from "./sql-text.ts";

const migrations = queriesBeside(import.meta.url)("migrations", {}, { name: text() });
const MIGRATIONS = new URL("./migrations/", import.meta.url);
/** Longer than any migration takes. */
const TURN_MS = 15 * 60_000;

/** Names of all migrations in order. */
export async function migrationNames(): Promise<string[]> {
  const files = await readdir(MIGRATIONS);
  return files.filter((file) => file.endsWith(".sql")).toSorted();
}

/** Migrates the database at `url` to the newest schema. Returns the names of the migrations that it applied. */
export async function migrate(
  url: string,
  onWait: OnWait = () => {},
  { engine }: Pick<Schemas, "engine"> = DEFAULT_SCHEMAS,
): Promise<string[]> {
  const client = new Client({ connectionString: url, application_name: "pawl-migrate" });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    await client.query(`create schema if not exists ${engine}`).catch(ignoreRace);
    await client.query(`set search_path = ${engine}`);
    await client
      .query(
        "create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())",
      )
      .catch(ignoreRace);
    const applied: string[] = [];
    for (const name of await migrationNames()) {
      const options = { url, what: `migration ${name}`, onWait };
      if (await untilLocked(options, rows[0]?.pid, () => applyOne(client, name)))
        applied.push(name);
    }
    return applied;
  } finally {
    await client.end();
  }
}

async function applyOne(client: Client, name: string): Promise<boolean> {
  await client.query("begin");
  try {
    await client.query(`set local lock_timeout = ${TURN_MS}`);
    await client.query("lock table migrations in exclusive mode");
    await client.query(`set local lock_timeout = ${LOCK_WAIT_MS}`);
    const known = await client.query("select 1 from migrations where name = $1", [name]);
    if (known.rowCount === 0) {
      const file = await readFile(new URL(name, MIGRATIONS), "utf8");
      for (const statement of statementsOf(file)) await client.query(statement);
      await client.query("insert into migrations (name) values ($1)", [name]);
    }
    await client.query("commit");
    return known.rowCount === 0;
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

/** Two processes created the same object: `if not exists` still races inside the catalogue. The process that lost may continue. */
function ignoreRace(error: unknown): void {
  if (!["23505", "42P06", "42P07"].includes(sqlState(error) ?? "")) throw error;
}

/** True if every migration that this build knows has been applied. */
export async function isCurrent(db: Queryable): Promise<boolean> {
  const applied = new Set((await run(db, migrations, {})).map(({ name }) => name));
  return (await migrationNames()).every((name) => applied.has(name));
}
