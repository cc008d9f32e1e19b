// A column that a migration adds to a table of runs must reach the archive, or there is a reason why it need not.

import { RECORDS } from "@pawl/core/archive/record";
import { openPool } from "@pawl/platform/db/pool";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../support/postgres.ts";

/** The tables of which an archived run has rows, and their records. */
const TABLES = {
  runs: "run",
  run_metadata: "metadata",
  run_requests: "request",
  run_repairs: "repair",
  thread_runs: "thread",
  definitions: "graph",
  effects: "effect",
  approvals: "approval",
  dead_letters: "dead_letter",
  run_events: "event",
} as const;

/** Columns that a record leaves out. The first line of a file has the run and the tenant of all others. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  restored_at: "a restore sets it",
  quarantined_at: "a restore checks the whole log",
  quarantine_reason: "a restore checks the whole log",
  quarantine_detail: "a restore checks the whole log",
  "definitions.request_id": "the workflow was saved long ago",
  "definitions.request_hash": "the workflow was saved long ago",
  "thread_runs.state": "a finished run is over",
};

test("every column of a run is in its archive, or there is a reason", async () => {
  const database = await freshDatabase();
  const pool = openPool(database.url, { max: 1, name: "pawl-tidy" });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  const { rows } = await pool.query<{ table: keyof typeof TABLES; column: string }>({
    text: `select table_name as table, column_name as column from information_schema.columns
      where table_schema = current_schema() and table_name = any ($1)`,
    values: [Object.keys(TABLES)],
  });
  expect(rows.length).toBeGreaterThan(60);
  const missing = rows.filter(({ table, column }) => {
    const isOfFirstLine = column === "run_id" || column === "tenant_id";
    const isKept = Object.hasOwn(RECORDS[TABLES[table]].shape, column);
    return !isKept && !isOfFirstLine && !(column in LEFT_OUT || `${table}.${column}` in LEFT_OUT);
  });
  expect(missing).toEqual([]);
});
