import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { list, lists, number, orNull, text, time } from "./columns.ts";
import { bind, columns, first, queriesBeside, type Queryable, run, valuesOf } from "./query.ts";

/** Declares queries of a file with this text, in a folder of this name. */
function declaring(folder: string, sql: string): ReturnType<typeof queriesBeside> {
  const path = join(mkdtempSync(join(tmpdir(), "pawl-query-")), folder);
  mkdirSync(path);
  writeFileSync(join(path, "queries.sql"), sql);
  return queriesBeside(pathToFileURL(join(path, "reads.ts")).href);
}

/** A database that answers everything with these rows. */
const answering = (rows: object[]): Queryable => ({
  query: async <Row extends object>() => ({ rows: rows as Row[], rowCount: rows.length }),
});

test("values are passed by name and sent in the order of the text", () => {
  const declare = declaring("by-name", "-- name: find\nselect 1 where :run_ids = :node_id");
  const find = declare("find", { nodeId: text(), runIds: list(text()) });
  expect(bind(find, { nodeId: "n", runIds: ["a", "b"] })).toEqual({
    name: "pawl_by_name_find",
    text: "select 1 where $1 = $2",
    values: ['{"a","b"}', "n"],
  });
});

test("a query that is not in the file, or is declared twice, is refused", () => {
  const declare = declaring("named", "-- name: a\nselect 1");
  expect(() => declare("b", {})).toThrow("has no query b");
  declare("a", {});
  expect(() => declare("a", {})).toThrow("two queries");
});

test("a parameter that is missing in the declaration, or only there, is refused", () => {
  const declare = declaring("given", "-- name: a\nselect :x::text");
  expect(() => declare("a", {})).toThrow("has the parameters x");
  expect(() => declare("a", { x: text(), y: text() })).toThrow("has the parameters x");
});

test("in tests, a row that differs from its declaration is refused", async () => {
  const declare = declaring("rows", "-- name: a\nselect 1 as n");
  const query = declare("a", {}, { n: number() });
  await expect(run(answering([{ n: 1 }]), query, {})).resolves.toEqual([{ n: 1 }]);
  await expect(run(answering([{ n: "1" }]), query, {})).rejects.toThrow();
  await expect(run(answering([{ n: 1, more: 2 }]), query, {})).rejects.toThrow();
});

test("columns come under their names in code, and times as milliseconds", async () => {
  const declare = declaring("fields", "-- name: a\nselect 1 as run_id, now() as ended_at");
  const query = declare("a", {}, { runId: text(), endedAt: orNull(time()) });
  const rows = [
    { run_id: "a", ended_at: new Date(5) },
    { run_id: "b", ended_at: null },
  ];
  expect(await run(answering(rows), query, {})).toEqual([
    { runId: "a", endedAt: 5 },
    { runId: "b", endedAt: null },
  ]);
  expect(await first(answering(rows), query, {})).toEqual({ runId: "a", endedAt: 5 });
  expect(await first(answering([]), query, {})).toBeUndefined();
});

test("a query that unnests rows takes an array of each field of the records", () => {
  const declare = declaring("unnested", "-- name: a\nselect :b, :a");
  const query = declare("a", lists({ a: number(), b: text() }));
  const values = valuesOf(query, [
    { a: 1, b: "x" },
    { a: 2, b: "y" },
  ]);
  expect(values).toEqual({ a: [1, 2], b: ["x", "y"] });
});

test("records become one array for each field", () => {
  const records = [
    { a: 1, b: "x" },
    { a: 2, b: "y" },
  ];
  expect(columns(records, ["a", "b"])).toEqual({ a: [1, 2], b: ["x", "y"] });
});
