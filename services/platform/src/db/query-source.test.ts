// A user's database queried through the adapter, on a real PostgreSQL: the mode, the values, and the ends of a query.

import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../../../test/support/postgres.ts";
import { until } from "../../../../test/support/until.ts";
import { openQuerySource, type AskedQuery, type QuerySourceOptions } from "./query-source.ts";

async function setup(options: Partial<QuerySourceOptions> = {}) {
  const database = await freshDatabase();
  const name = "pawl-query-test";
  const source = openQuerySource({
    ledgerDays: 90,
    url: database.url,
    mode: "read_only",
    poolSize: 2,
    name,
    ...options,
  });
  const admin = new Client({ connectionString: database.url });
  await admin.connect();
  await admin.query("create table orders (id int primary key, total numeric not null)");
  await admin.query("insert into orders select n, n + 0.50 from generate_series(1, 500) n");
  onTestFinished(async () => {
    await source.end();
    await admin.end();
    await database.drop();
  });
  const ask = (sql: string, parameters: readonly unknown[] = [], more: Partial<AskedQuery> = {}) =>
    source.run({
      sql,
      parameters,
      maxRows: 1_000,
      bytesMax: 256 * 1024,
      timeoutMs: 5_000,
      signal: new AbortController().signal,
      ...more,
    });
  /** Statements that the source's connections run right now. */
  const running = async (): Promise<number> => {
    const text =
      "select count(*)::int as n from pg_stat_activity where application_name = $1 and datname = current_database() and state = 'active'";
    return (await admin.query<{ n: number }>(text, [name])).rows[0]?.n ?? 0;
  };
  const count = async (): Promise<number> =>
    (await admin.query<{ n: number }>("select count(*)::int as n from orders")).rows[0]?.n ?? 0;
  return { ask, running, count, source, admin };
}

test("values are JSON without a digit lost (S3.27)", async () => {
  const { ask } = await setup();
  const sql = `select 1::int2 as i2, 5::int8 as i8, 9007199254740993::int8 as big, 12.500::numeric as num,
    1.5::float8 as f8, 'NaN'::float8 as nan, true as yes, null as nothing, 'é👋' as txt, 'x'::bpchar(3) as chr,
    '{"a":[1]}'::jsonb as doc, '\\x00ff'::bytea as bin, '2026-02-03'::date as day,
    '2026-02-03 04:05:06.789+02'::timestamptz as at, '2026-02-03 04:05:06'::timestamp as local, 'infinity'::timestamptz as never,
    array[1,null,3] as ints, array[9007199254740993]::int8[] as bigs, array['a,b','"c"'] as texts, interval '1 day' as span`;
  const answer = await ask(sql);
  expect(answer).toMatchObject({ ok: true, rowCount: 1, truncated: false });
  if (!answer.ok) return;
  expect(Object.fromEntries(answer.fields.map((name, at) => [name, answer.rows[0]?.[at]]))).toEqual(
    {
      i2: 1,
      i8: 5,
      big: "9007199254740993",
      num: "12.500",
      f8: 1.5,
      nan: "NaN",
      yes: true,
      nothing: null,
      txt: "é👋",
      chr: "x  ",
      doc: { a: [1] },
      bin: "AP8=",
      day: "2026-02-03",
      at: "2026-02-03T02:05:06.789Z",
      local: "2026-02-03T04:05:06",
      never: "infinity",
      ints: [1, null, 3],
      bigs: ["9007199254740993"],
      texts: ["a,b", '"c"'],
      span: "1 day",
    },
  );
});

test("parameters are bound, never spliced (S3.27)", async () => {
  const { ask, count } = await setup();
  const evil = "1'; drop table orders; --";
  expect(await ask("select $1::text as said", [evil])).toMatchObject({ rows: [[evil]] });
  expect(
    await ask("select id from orders where id = any($1::int[]) order by id", [[3, 1]]),
  ).toMatchObject({ rows: [[1], [3]] });
  const mixed = ['a"\\,', null, "b}"];
  expect(
    await ask("select $1::text[] as list, $2::jsonb as doc, $3::bool as flag", [
      mixed,
      [{ a: 1 }],
      true,
    ]),
  ).toMatchObject({ rows: [[mixed, [{ a: 1 }], true]] });
  expect(await count()).toBe(500);
});

test("rows beyond the limit are not fetched, and the answer shows it (S3.27)", async () => {
  const { ask } = await setup();
  const exact = await ask("select id from orders order by id", [], { maxRows: 500 });
  expect(exact).toMatchObject({ ok: true, rowCount: 500, truncated: false });
  for (const maxRows of [1, 99, 100, 250, 499]) {
    const cut = await ask("select id from orders order by id", [], { maxRows });
    expect(cut).toMatchObject({ ok: true, rowCount: maxRows, truncated: true });
  }
  // A trillion rows would take a day.
  const endless = "select generate_series(1, 1000000000000) as n";
  expect(await ask(endless, [], { maxRows: 10 })).toMatchObject({ rowCount: 10, truncated: true });
  const heavy = "select generate_series(1, 1000000000000), repeat('x', 100000)";
  expect(await ask(heavy, [])).toMatchObject({ ok: true, isTooLarge: true });
});

test.each([
  ["writes", "delete from orders", "25006"],
  [
    "writes in a common table expression",
    "with d as (delete from orders returning 1) select * from d",
    "25006",
  ],
  ["creates", "create table x (id int)", "25006"],
  ["is two", "select 1; delete from orders", "42601"],
  ["opens itself up", "select set_config('transaction_read_only', 'off', false)", "25001"],
  ["is no SQL", "selekt 1", "42601"],
  ["names nothing", "select * from nothing", "42P01"],
  ["is of another type", "select 'x'::int", "22P02"],
  ["lacks a parameter", "select $1::int, $2::int", "08P01"],
])(
  "a statement that %s is refused by the database itself (S3.27)",
  async (_name, sql, sqlState) => {
    const { ask, count } = await setup();
    const answer = await ask(sql, sql.includes("$2") ? [1] : []);
    expect(answer).toMatchObject({ ok: false, kind: "refused", sqlState });
    expect(await count()).toBe(500);
    expect(await ask("select 1 as one")).toMatchObject({ ok: true, rows: [[1]] });
  },
);

test("a session is as clean for the next statement as it was for the first", async () => {
  const { ask, admin } = await setup({ poolSize: 1 });
  await ask("set search_path = nowhere");
  await ask("set session characteristics as transaction read write");
  await ask("select pg_advisory_lock(7)");
  await ask("commit");
  expect(await ask("select count(*) from orders")).toMatchObject({ rows: [[500]] });
  expect(await ask("delete from orders")).toMatchObject({ sqlState: "25006" });
  const { rows } = await admin.query("select pg_try_advisory_lock(7) as free");
  expect(rows).toEqual([{ free: true }]);
});

test("a source that may write commits, and gives the number of changed rows", async () => {
  const { ask, count } = await setup({ mode: "read_write" });
  expect(await ask("delete from orders where id > $1", [400])).toMatchObject({
    ok: true,
    rowCount: 100,
  });
  expect(await ask("insert into orders values (1000, 1) returning id")).toMatchObject({
    rows: [[1_000]],
  });
  expect(await ask("insert into orders values (1, 1)")).toMatchObject({
    ok: false,
    kind: "refused",
    sqlState: "23505",
  });
  expect(await count()).toBe(401);
});

test("a statement that takes too long is ended by the server (S1.32)", async () => {
  const { ask, running } = await setup();
  const answer = await ask("select pg_sleep(60)", [], { timeoutMs: 50 });
  expect(answer).toMatchObject({ ok: false, kind: "timeout" });
  await until(async () => (await running()) === 0, { what: "the statement to end" });
});

test("an abort cancels the statement on the server (S1.38)", async () => {
  const { ask, running } = await setup();
  const stop = new AbortController();
  const answer = ask("select pg_sleep(60)", [], { timeoutMs: 60_000, signal: stop.signal });
  await until(async () => (await running()) === 1, { what: "the statement to run" });
  stop.abort();
  expect(await answer).toMatchObject({ ok: false, kind: "cancelled" });
  await until(async () => (await running()) === 0, { what: "the statement to end" });
  expect(await ask("select 1 as one")).toMatchObject({ ok: true });
});

test("waiting for a connection ends with the signal, and loses none (S1.38)", async () => {
  const { ask, running } = await setup({ poolSize: 1 });
  const [first, second] = [new AbortController(), new AbortController()];
  const busy = ask("select pg_sleep(60)", [], { timeoutMs: 60_000, signal: first.signal });
  await until(async () => (await running()) === 1, { what: "the statement to run" });
  const waiting = ask("select 1 as one", [], { signal: second.signal });
  second.abort();
  expect(await waiting).toMatchObject({ kind: "cancelled" });
  first.abort();
  await busy;
  expect(await ask("select 1 as one")).toMatchObject({ ok: true });
});

test("a query whose connection dies is unavailable, and the next query works", async () => {
  const { ask } = await setup({ poolSize: 1 });
  const killed = await ask("select pg_terminate_backend(pg_backend_pid())");
  expect(killed).toMatchObject({ ok: false });
  expect(killed.ok || ["transient", "unavailable"].includes(killed.kind)).toBe(true);
  expect(await ask("select 1 as one")).toMatchObject({ ok: true });
});

test("the failure of an unreachable source does not contain its address", async () => {
  const { ask } = await setup({ url: "postgres://user:pass-word@127.0.0.1:1/none" });
  const answer = await ask("select 1 as one");
  expect(answer).toMatchObject({ ok: false, kind: "unavailable" });
  expect(JSON.stringify(answer)).not.toMatch(/pass-word|127\.0\.0\.1/);
});
