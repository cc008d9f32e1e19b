// Transactions of a pool: all or nothing, again after contention, and no connection lost.

import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../../../test/support/postgres.ts";
import { openPool, type Pool } from "./pool.ts";

async function setup(max = 4) {
  const database = await freshDatabase();
  const pool = openPool(database.url, { max, name: "pawl-transactions" });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  await pool.query({ text: "create table counters (id int primary key, count int not null)" });
  await pool.query({ text: "insert into counters values (1, 0), (2, 0)" });
  return pool;
}

const bump = (id: number) => ({ text: `update counters set count = count + 1 where id = ${id}` });

async function counts(pool: Pool): Promise<number[]> {
  const text = "select count from counters order by id";
  return (await pool.query<{ count: number }>({ text })).rows.map((row) => row.count);
}

test("a transaction commits all of its work, and nothing if the work throws", async () => {
  const pool = await setup();
  expect(await pool.transaction(async (tx) => (await tx.query(bump(1))).rowCount)).toBe(1);
  const broken = pool.transaction(async (tx) => {
    await tx.query(bump(1));
    throw new Error("changed its mind");
  });
  await expect(broken).rejects.toThrow("changed its mind");
  expect(await counts(pool)).toEqual([1, 0]);
});

test("of two transactions in a deadlock one runs again, and both commit", async () => {
  const pool = await setup();
  const arrived = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  let attempts = 0;
  const both = (first: number, second: number): Promise<void> =>
    pool.transaction(async (tx) => {
      attempts += 1;
      await tx.query(bump(first));
      arrived[first === 1 ? 0 : 1].resolve();
      await Promise.all(arrived.map((each) => each.promise));
      await tx.query(bump(second));
    });
  await Promise.all([both(1, 2), both(2, 1)]);
  expect(await counts(pool)).toEqual([2, 2]);
  expect(attempts).toBeGreaterThan(2);
});

test("a transaction that always meets contention fails after five attempts", async () => {
  const pool = await setup();
  let attempts = 0;
  const contended = Object.assign(new Error("deadlock detected"), { code: "40P01" });
  const work = pool.transaction(async () => {
    attempts += 1;
    throw contended;
  });
  await expect(work).rejects.toMatchObject({ reason: "STORE_UNAVAILABLE", cause: contended });
  expect(attempts).toBe(5);
});

test("any other failure ends a transaction at once", async () => {
  const pool = await setup();
  let attempts = 0;
  const work = pool.transaction(async (tx) => {
    attempts += 1;
    await tx.query({ text: "insert into counters values (1, 0)" });
  });
  await expect(work).rejects.toMatchObject({ code: "23505" });
  expect(attempts).toBe(1);
});

test("a connection that dies in a transaction is STORE_UNAVAILABLE, and the pool works without it", async () => {
  const pool = await setup(1);
  const killed = pool.transaction(async (tx) => {
    await tx.query(bump(1));
    await tx.query({ text: "select pg_terminate_backend(pg_backend_pid())" });
  });
  await expect(killed).rejects.toMatchObject({ reason: "STORE_UNAVAILABLE" });
  expect(await counts(pool)).toEqual([0, 0]);
});
