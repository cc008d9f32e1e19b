// Statements that write are recorded in their own database: a repeat writes nothing, and a statement that reads leaves no record.

import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../../../test/support/postgres.ts";
import { openQuerySource } from "./query-source.ts";

async function setup(role?: string) {
  const database = await freshDatabase();
  const admin = new Client({ connectionString: database.url });
  await admin.connect();
  await admin.query("create table charges (id int generated always as identity, cents int)");
  const url = new URL(database.url);
  if (role !== undefined) {
    await admin.query(`create role ${role} login password 'p'; grant all on charges to ${role}`);
    url.username = role;
    url.password = "p";
  }
  const source = openQuerySource({
    ledgerDays: 90,
    url: url.href,
    mode: "read_write",
    poolSize: 4,
    name: "pawl-ledger-test",
  });
  onTestFinished(async () => {
    await source.end();
    if (role !== undefined) await admin.query(`drop owned by ${role}; drop role ${role}`);
    await admin.end();
    await database.drop();
  });
  const ask = (sql: string, onceKey?: string, more: { readonly bytesMax?: number } = {}) =>
    source.run({
      sql,
      parameters: [],
      maxRows: 100,
      bytesMax: 256 * 1024,
      timeoutMs: 10_000,
      signal: new AbortController().signal,
      ...(onceKey === undefined ? {} : { onceKey }),
      ...more,
    });
  const count = async (table: string): Promise<number> =>
    (await admin.query<{ n: number }>(`select count(*)::int as n from ${table}`)).rows[0]?.n ?? 0;
  return { ask, count, admin };
}

const CHARGE = "insert into charges (cents) values (5) returning id, cents, 1.50::numeric as fee";

test("a statement under one key writes once, and a repeat gets its rows", async () => {
  const { ask, count } = await setup();
  const first = await ask(CHARGE, "run/node/0");
  expect(first).toMatchObject({ ok: true, rowCount: 1, rows: [[1, 5, "1.50"]] });
  expect(await ask(CHARGE, "run/node/0")).toEqual(first);
  expect(await count("charges")).toBe(1);
  expect(await ask(CHARGE, "run/node/1")).toMatchObject({ ok: true, rows: [[2, 5, "1.50"]] });
  expect(await count("pawl_effects.ledger")).toBe(2);
});

test("many statements at once under one key on an empty database write once, and all get the same rows", async () => {
  const { ask, count } = await setup();
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(CHARGE, "run/node/0")));
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers[0]).toMatchObject({ ok: true });
  expect(await count("charges")).toBe(1);
});

test("a statement that only reads leaves no row, and one that fails leaves nothing", async () => {
  const { ask, count } = await setup();
  expect(await ask("select count(*)::int from charges", "a/b/0")).toMatchObject({ rows: [[0]] });
  const refused = await ask("insert into charges (cents) values (1/0)", "a/c/0");
  expect(refused).toMatchObject({ ok: false, kind: "refused" });
  expect(await count("pawl_effects.ledger")).toBe(0);
});

test("a result too large to record is not written either", async () => {
  const { ask, count } = await setup();
  const many = "insert into charges (cents) select n from generate_series(1, 90) n returning *";
  expect(await ask(many, "a/b/0", { bytesMax: 50 })).toMatchObject({ isTooLarge: true });
  expect(await count("charges")).toBe(0);
  expect(await count("pawl_effects.ledger")).toBe(0);
});

test("a role that may not create the ledger may read; its writes fail with a hint and change nothing", async () => {
  const { ask, count } = await setup("pawl_ledger_clerk");
  expect(await ask("select 1 as one", "a/b/0")).toMatchObject({ ok: true });
  const answer = await ask(CHARGE, "a/c/0");
  expect(answer).toMatchObject({ ok: false, kind: "refused" });
  expect(JSON.stringify(answer)).toContain("effect: none");
  expect(await count("charges")).toBe(0);
  expect(await ask(CHARGE)).toMatchObject({ ok: true });
});

test("later statements delete old records, and keep young ones", async () => {
  const { ask, count, admin } = await setup();
  await admin.query(
    `create schema pawl_effects;
     create table pawl_effects.ledger (effect_key text primary key, result json not null, at timestamptz not null default now());
     insert into pawl_effects.ledger (effect_key, result, at)
     select 'old/' || n, '{}', now() - interval '91 days' from generate_series(1, 1500) n;
     insert into pawl_effects.ledger (effect_key, result, at) values ('young', '{}', now() - interval '89 days')`,
  );
  const oldCount = () => count("pawl_effects.ledger where at < now() - interval '90 days'");
  // A bounded number at a time, and on while there are many.
  await ask(CHARGE, "a/c/0");
  expect(await oldCount()).toBe(500);
  await ask(CHARGE, "a/d/0");
  expect(await oldCount()).toBe(0);
  expect(await count("pawl_effects.ledger")).toBe(3);
});

test("a role that may not delete records can still write", async () => {
  const role = "pawl_ledger_keeper";
  const { ask, count, admin } = await setup(role);
  await admin.query(
    `create schema pawl_effects;
     create table pawl_effects.ledger (effect_key text primary key, result json not null, at timestamptz not null default now());
     grant usage on schema pawl_effects to ${role};
     grant select, insert on pawl_effects.ledger to ${role}`,
  );
  expect(await ask(CHARGE, "a/b/0")).toMatchObject({ ok: true });
  expect(await ask(CHARGE, "a/b/0")).toMatchObject({ ok: true, rows: [[1, 5, "1.50"]] });
  expect(await count("charges")).toBe(1);
});
