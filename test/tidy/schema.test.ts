// The schema in one file, which people read, equals the schema that the migrations make.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { parseDefinition } from "@pawl/core/definition/parse";
import { namedQueries } from "@pawl/platform/db/sql-text";
import { openPool } from "@pawl/platform/db/pool";
import { DEFAULT_SCHEMAS } from "@pawl/platform/config/schemas";
import { expect, onTestFinished, test } from "vitest";
import { dumpSchema } from "../support/dump-schema.ts";
import { freshDatabase } from "../support/postgres.ts";

const FILE = new URL("../../services/platform/src/db/schema.sql", import.meta.url);

const SOURCES = new URL("../../services/platform/src/", import.meta.url);
const MIGRATIONS = new URL("db/migrations/", SOURCES);

interface Column {
  readonly table_name: string;
  readonly column_name: string;
  readonly data_type: string;
}

/** "column type" of each table asked for, as the migrations make them. */
async function columnsOf(...tables: readonly string[]): Promise<Record<string, string[]>> {
  const database = await freshDatabase();
  const pool = openPool(database.url, { max: 1, name: "pawl-tidy" });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  const { rows } = await pool.query<Column>({
    text: `select table_name, column_name, data_type from information_schema.columns
      where table_schema = $1 and table_name = any ($2) order by table_name, ordinal_position`,
    values: [DEFAULT_SCHEMAS.engine, tables],
  });
  const byTable = Map.groupBy(rows, (row) => row.table_name);
  return Object.fromEntries(
    [...byTable].map(([table, found]) => [
      table,
      found.map((row) => `${row.column_name} ${row.data_type}`),
    ]),
  );
}

test("workflows, their nodes and edges, runs and logs have their tables; a graph is one immutable row (S3.7)", async () => {
  const tables = await columnsOf("workflows", "definitions", "runs", "run_events");
  expect(tables["workflows"]).toEqual(
    expect.arrayContaining(["tenant_id text", "workflow_id text", "version integer"]),
  );
  expect(tables["definitions"]).toEqual(
    expect.arrayContaining(["tenant_id text", "title text", "version integer", "body text"]),
  );
  expect(tables["runs"]).toEqual(
    expect.arrayContaining([
      "status text",
      "version bigint",
      "created_at timestamp with time zone",
      "ended_at timestamp with time zone",
    ]),
  );
  expect(Object.keys(tables)).toContain("run_events");
  // Nodes and edges live in the body, which is canonical and digested: an edit is a new version, never a changed row.
  const node = { id: "a", type: "task", config: { x: 1 } };
  const nodes = [{ id: "start", type: "start" }, node, { id: "b", type: "task" }];
  const handled = { source: "a", target: "b", source_handle: "ok" };
  const text = JSON.stringify({ nodes, edges: [{ source: "start", target: "a" }, handled] });
  const parsed = parseDefinition(text);
  const body = parsed.ok ? parseDefinition(parsed.canonicalJson) : parsed;
  expect(body.ok && body.definition.nodes[1]).toMatchObject({ ...node, ordinal: 1 });
  expect(body.ok && body.definition.edges[1]).toMatchObject({ sourceHandle: "ok" });
});

test("a row of the log has its place, kind, attempt and payload, in the order of the fold (S3.8, X7)", async () => {
  const tables = await columnsOf("run_events");
  expect(tables["run_events"]).toEqual([
    "run_id uuid",
    "seq bigint",
    "type text",
    "node_id text",
    "iteration integer",
    "attempt integer",
    "epoch bigint",
    "ordinal integer",
    "payload jsonb",
    "value json",
    "at timestamp with time zone",
  ]);
  expect(await readFile(FILE, "utf8")).toContain(
    "constraint run_events_pkey PRIMARY KEY (run_id, seq)",
  );
});

test("the schema in one file is what the migrations make; UPDATE_SCHEMA=1 rewrites it", async () => {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const dump = await dumpSchema(database.url, DEFAULT_SCHEMAS.engine);
  if (process.env["UPDATE_SCHEMA"] === "1") await writeFile(FILE, dump);
  expect(await readFile(FILE, "utf8")).toBe(dump);
});

/** Unique across runs, so not sorted by run: what each row refers to, and why it may name a run. */
const ACROSS_RUNS: Readonly<Record<string, string>> = {
  bulk_runs: "a bulk orders its runs",
  input_keys: "an input may be started once, by any run",
  run_requests: "a request id is used for one run",
  thread_runs: "a thread is held by one run, and orders its runs",
};

test("every unique key of a table with runs begins with the run, so that tables can be split by run", async () => {
  const database = await freshDatabase();
  const pool = openPool(database.url, { max: 1, name: "pawl-tidy" });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  const { rows } = await pool.query<{ table: string; first: string }>({
    text: `select c.relname as table, a.attname as first
      from pg_index i
      join pg_class c on c.oid = i.indrelid
      join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
      where i.indisunique and not c.relispartition and c.relnamespace = $1::regnamespace
        and exists (select from pg_attribute r where r.attrelid = c.oid and r.attname = 'run_id')`,
    values: [DEFAULT_SCHEMAS.engine],
  });
  expect(rows.length).toBeGreaterThan(8);
  const others = rows.filter(({ table, first }) => first !== "run_id" && !(table in ACROSS_RUNS));
  expect(others).toEqual([]);
});

/** Tables with rows of runs that the removal of a run does not empty, and why. */
const LEFT_BY_REMOVAL: Readonly<Record<string, string>> = {
  runs: "its row is the one that is removed",
  run_events: "a log goes in pages, or with its month",
  leases: "a finished run has none",
  slots: "a finished run has none, except slots of a rate that cool down and then go",
  signal_waits: "a finished run has none",
  input_keys: "they expire",
  bulk_runs: "the list of a bulk says what happened to each run, also to one that it deleted",
  webhook_deliveries:
    "a receiver may answer after the run is deleted; the log of deliveries has its own age",
  webhook_attempts: "they go with their deliveries",
  run_claims: "the workflow queue forgets them after its commands",
  removed_logs: "it names a removed run until its log is deleted",
};

test("the removal of a run empties every table that has rows of it, or there is a reason (X19)", async () => {
  const database = await freshDatabase();
  const pool = openPool(database.url, { max: 1, name: "pawl-tidy" });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  const { rows } = await pool.query<{ table: string }>({
    text: `select c.relname as table from pg_attribute a join pg_class c on c.oid = a.attrelid
      where a.attname = 'run_id' and c.relkind in ('r', 'p') and not c.relispartition
        and c.relnamespace = $1::regnamespace`,
    values: [DEFAULT_SCHEMAS.engine],
  });
  const queries = await readFile(new URL("store/runs/queries.sql", SOURCES), "utf8");
  const named = namedQueries(queries);
  const missing = rows.flatMap(({ table }) =>
    ["remove", "delete_unkept", "delete_runs"].filter((name) => {
      const text = named.get(name) ?? "";
      const isDeleted =
        text.includes(`delete from ${table}\n`) || text.includes(`delete from ${table} `);
      return !(table in LEFT_BY_REMOVAL) && !isDeleted;
    }),
  );
  expect(rows.length).toBeGreaterThan(10);
  expect(missing).toEqual([]);
});

test("no two migrations have one number, so that their order is what their numbers say", async () => {
  const numbers = (await readdir(MIGRATIONS)).map((name) => name.slice(0, 4));
  expect(numbers).toEqual([...new Set(numbers)]);
});
