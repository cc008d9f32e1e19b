// Tests of the databases that other tests use.
import { Client } from "pg";
import { expect, test } from "vitest";
import { freshDatabase, startPrivatePostgres } from "./postgres.ts";

async function answer(url: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

test("a fresh database is migrated and apart from every other", async () => {
  const [one, other] = await Promise.all([freshDatabase(), freshDatabase()]);
  await answer(one.url, "create table pawl.mark (id int)");
  const marked = "select to_regclass('pawl.mark') is not null as marked";
  expect(await answer(one.url, marked)).toEqual([{ marked: true }]);
  expect(await answer(other.url, marked)).toEqual([{ marked: false }]);
  expect(await answer(other.url, "select count(*) > 0 as some from pawl.migrations")).toEqual([
    { some: true },
  ]);
  await Promise.all([one.drop(), other.drop()]);
});

test("a private server keeps committed rows through a crash", async () => {
  const server = await startPrivatePostgres();
  try {
    await answer(server.url, "create table kept (id int); insert into kept values (1)");
    await server.crash();
    await expect(answer(server.url, "select 1")).rejects.toThrow();
    await server.restart();
    expect(await answer(server.url, "select id from kept")).toEqual([{ id: 1 }]);
  } finally {
    await server.stop();
  }
});
