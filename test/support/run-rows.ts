// Every row of a run in the database, so that a test can compare a restored run with the one from before.

import type { Client, QueryConfig } from "pg";

/** The columns that a restore does not bring back: caches, times of a sweep, and its own mark. */
const APART = new Set(["restored_at", "touched_at", "xmin"]);
/** Tables without rows that belong to the record of a run. */
const APART_TABLES = new Set(["run_snapshots", "run_claims", "workflow_jobs"]);

/** Every row of a run in every table, as text. The session of `db` has the schema of Pawl in its search path. */
export async function rowsOf(
  db: Client,
  runId: string,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const tables = await db.query<{ table: string }>(
    `select c.relname as table from pg_attribute a join pg_class c on c.oid = a.attrelid
     where a.attname = 'run_id' and c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'pawl'::regnamespace`,
  );
  const found: Record<string, readonly string[]> = {};
  for (const { table } of tables.rows) {
    if (APART_TABLES.has(table)) continue;
    // Text, because a parser would hide spaces and digits of JSON.
    const { rows } = await db.query<Record<string, string | null>>({
      text: `select * from ${table} where run_id = $1`,
      values: [runId],
      types: { getTypeParser: () => (value: string) => value },
    } as QueryConfig);
    found[table] = rows
      .map((row) => JSON.stringify(Object.entries(row).filter(([name]) => !APART.has(name))))
      .toSorted();
  }
  return found;
}
