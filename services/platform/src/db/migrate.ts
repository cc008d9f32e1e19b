// Applies the forward-only migrations, each in a transaction and one command after the other. Several processes may start at once: a lock on the bookkeeping table lets one
// of them do the work, while the others wait and then find nothing to do. That lock delays only other migrations; for locks on Pawl's own
// tables the migration waits only briefly, several times (lock-wait.ts).

import { readdir, readFile } from "node:fs/promises";
import { Client } from "pg";
import { LOCK_WAIT_MS, type LockWaitOptions, type OnWait, untilLocked } from "./lock-wait.ts";
import { DEFAULT_SCHEMAS, type Schemas } from "../config/schemas.ts";
import { statementsOf } from "./sql-text.ts";

const MIGRATIONS = new URL("./migrations/", import.meta.url);
/** Longer than any migration takes. */
const TURN_MS = 15 * 60_000;

/** Names of all migrations in order. */
export async function migrationNames(): Promise<string[]> {
  const files = await readdir(MIGRATIONS);
  return files.filter((file) => file.endsWith(".sql")).toSorted();
}

/** Migrates the database at `url` to the newest schema; returns the names of the migrations that it applied. */
export async function migrate(
  url: string,
  onWait: OnWait = () => {},
  { engine }: Pick<Schemas, "engine"> = DEFAULT_SCHEMAS,
): Promise<string[]> {
  const client = new Client({ connectionString: url, application_name: "pawl-migrate" });
  await client.connect();
  try {
    const pid = await backendOf(client);
    await client.query(`create schema if not exists ${engine}`).catch(ignoreRace);
    await client.query(`set search_path = ${engine}`);
    await client
      .query(
        "create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())",
      )
      .catch(ignoreRace);
    const applied: string[] = [];
    for (const name of await migrationNames()) {
      const what = `migration ${name}`;
      const options: LockWaitOptions = { url, what, onWait };
      if (await untilLocked(options, pid, () => applyOne(client, name))) applied.push(name);
    }
    return applied;
  } finally {
    await client.end();
  }
}

async function backendOf(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return rows[0]?.pid;
}

async function applyOne(client: Client, name: string): Promise<boolean> {
  await client.query("begin");
  try {
    await client.query(`set local lock_timeout = ${TURN_MS}`);
    await client.query("lock table migrations in exclusive mode");
    await client.query(`set local lock_timeout = ${LOCK_WAIT_MS}`);
    const known = await client.query("select 1 from migrations where name = $1", [name]);
    if (known.rowCount === 0) {
      const text = await readFile(new URL(name, MIGRATIONS), "utf8");
      for (const statement of statementsOf(text)) await client.query(statement);
      await client.query("insert into migrations (name) values ($1)", [name]);
    }
    await client.query("commit");
    return known.rowCount === 0;
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

/** Two processes created the same object: `if not exists` still races inside the catalogue, and the loser may continue. */
function ignoreRace(error: unknown): void {
  const code = (error as { code?: unknown }).code;
  if (code !== "23505" && code !== "42P06" && code !== "42P07") throw error;
}

/** True if every migration that this build knows has been applied. */
export async function isCurrent(db: {
  query(text: string): Promise<{ rows: { name: string }[] }>;
}): Promise<boolean> {
  const { rows } = await db.query("select name from migrations");
  const applied = new Set(rows.map((row) => row.name));
  return (await migrationNames()).every((name) => applied.has(name));
}
