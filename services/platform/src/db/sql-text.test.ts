import { expect, test } from "vitest";
import { compile, namedQueries, statementsOf } from "./sql-text.ts";

test("a file gives its queries by name, without comments and with the parts they include", () => {
  const queries = namedQueries(`-- About the file.

-- part: columns
run_id, seq

-- name: one
-- What it reads.
select {columns}
from runs

-- name: two
select 1
`);
  expect([...queries]).toEqual([
    ["one", "select run_id, seq\nfrom runs"],
    ["two", "select 1"],
  ]);
});

test("a name that is there twice and a part that is missing are refused", () => {
  expect(() => namedQueries("-- name: a\nselect 1\n-- name: a\nselect 2")).toThrow(
    "a is there twice",
  );
  expect(() => namedQueries("-- name: a\nselect {b}")).toThrow("part b");
});

test("each parameter gets one number, in the order of its first use", () => {
  expect(compile("select :b::int, :a::text[], :b from t where x = any (:a)")).toEqual({
    text: "select $1::int, $2::text[], $1 from t where x = any ($2)",
    parameters: ["b", "a"],
  });
});

test("casts, strings, quoted names, comments and dollar quotes hold no parameters", () => {
  const text = `select 'a:b', "c:d", x::text, $$ :e $$, $f$ :g $f$ -- :h\n, 'it''s :i'`;
  expect(compile(text)).toEqual({ text, parameters: [] });
});

test("a text is cut into its statements, not inside of strings, comments or function bodies", () => {
  const text = `-- One; and two.
create table a (b text default ';');

create function f() returns int language plpgsql as $$ begin return 1; end $$;
-- Nothing follows;
`;
  expect(statementsOf(text)).toEqual([
    "-- One; and two.\ncreate table a (b text default ';')",
    "create function f() returns int language plpgsql as $$ begin return 1; end $$",
  ]);
});
