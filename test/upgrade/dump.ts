// Dumps whole databases as SQL, so that another build can open the database of an older one. PostgreSQL's own pg_dump is not among the
// binaries that we have.

import { gunzipSync, gzipSync } from "node:zlib";
import { Client, escapeLiteral } from "pg";
import { readSchema, readTables, readTimeColumns, type StoredTable } from "./catalogue.ts";

const HEADER = /^-- dumped at (\S+)/;
/** Times are written in UTC, names in full, and functions may come before the tables they use. */
const SESSION = "set search_path = ''; set timezone = 'UTC'; set check_function_bodies = off;";
/** Schedules of the dump have occurrences in such intervals. */
const INTERVAL_MS = 300_000;
/** For how long the services were away at least, as a restored database sees it. */
const AWAY_MS = 600_000;

async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** The whole database as one SQL script. */
export const dumpDatabase = (url: string): Promise<string> =>
  withClient(url, async (client) => {
    await client.query(SESSION);
    await client.query("begin isolation level repeatable read read only");
    const { before, after } = await readSchema(client);
    const rows: string[] = [];
    for (const table of await readTables(client)) rows.push(...(await insertsOf(client, table)));
    const { rows: times } = await client.query<{ now: Date }>("select now()");
    const at = times[0]?.now.toISOString() ?? "";
    return [`-- dumped at ${at}`, SESSION, ...before, ...rows, ...after, ""].join("\n");
  });

async function insertsOf(client: Client, { table, columns }: StoredTable): Promise<string[]> {
  const texts = columns.map((column) => `${column}::text`).join(", ");
  const { rows } = await client.query<{ values: (string | null)[] }>(
    `select array[${texts}] as values from ${table} order by 1`,
  );
  const literal = (value: string | null): string =>
    value === null ? "null" : escapeLiteral(value);
  return rows.map(
    ({ values }) =>
      `insert into ${table} (${columns.join(", ")}) overriding system value values (${values.map(literal).join(", ")});`,
  );
}

/** Makes the dump's database of an empty one. */
export const loadDump = (url: string, sql: string): Promise<void> =>
  withClient(url, async (client) => void (await client.query(sql)));

/** The dump without the time at which it was made. */
export const contentOf = (sql: string): string => sql.replace(HEADER, "");

/**
 * Makes the dump's database of an empty one, as if the services had been away for ten to fifteen minutes. Every time in it is moved, or
 * all deadlines would have passed long ago. Times are moved by whole intervals, so occurrences of schedules stay occurrences.
 */
export async function restoreDatabase(url: string, sql: string): Promise<void> {
  await loadDump(url, sql);
  await withClient(url, async (client) => {
    const dumpedAt = Date.parse(HEADER.exec(sql)?.[1] ?? "");
    const shiftMs = Math.floor((Date.now() - AWAY_MS - dumpedAt) / INTERVAL_MS) * INTERVAL_MS;
    for (const { table, columns } of await readTimeColumns(client)) {
      const moved = columns.map((column) => `${column} = ${column} + interval '${shiftMs} ms'`);
      await client.query(`update ${table} set ${moved.join(", ")}`);
    }
    await client.query(`
      update pawl.run_events
      set payload = payload || (
        select jsonb_object_agg(key, value::numeric + ${shiftMs})
        from jsonb_each(payload)
        where key like '%At' and jsonb_typeof(value) = 'number'
      )
      where exists (
        select 1 from jsonb_each(payload) where key like '%At' and jsonb_typeof(value) = 'number'
      )`);
  });
}

export const pack = (sql: string): Buffer => gzipSync(sql, { level: 9 });
export const unpack = (bytes: Buffer): string => gunzipSync(bytes).toString();
