import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { list, number, text } from "./columns.ts";
import { bind, columns, queriesBeside, run } from "./query.ts";
import type { Queryable } from "./sql.ts";

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

test("records become one array for each field", () => {
  const records = [
    { a: 1, b: "x" },
    { a: 2, b: "y" },
  ];
  expect(columns(records, ["a", "b"])).toEqual({ a: [1, 2], b: ["x", "y"] });
});
