// Definitions that wait for a lock of another session: they let others pass, name that session, and succeed when it ends.

import { readFile } from "node:fs/promises";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../../../test/support/postgres.ts";
import { until } from "../../../../test/support/until.ts";
import { installBoss } from "../queue/boss-install.ts";
import { untilLocked } from "./lock-wait.ts";
import { migrate, migrationNames } from "./migrate.ts";
import { ensurePartitions } from "./partitions.ts";
import { openPool } from "./pool.ts";

async function setup() {
  const database = await freshDatabase();
  const { url } = database;
  const clients: Client[] = [];
  const open = async (name: string): Promise<Client> => {
    const client = new Client({
      connectionString: url,
      application_name: name,
      options: "-c statement_timeout=6000",
    });
    await client.connect();
    clients.push(client);
    return client;
  };
  const outsider = await open("an operator's psql");
  onTestFinished(async () => {
    await Promise.all(clients.map((client) => client.end()));
    await database.drop();
  });
  const messages: string[] = [];
  return {
    url,
    outsider,
    reader: await open("a reader"),
    messages,
    onWait: (text: string): void => void messages.push(text),
    /** The outsider reads a table in a transaction, and leaves it open. */
    hold: async (table: string): Promise<void> => {
      await outsider.query("begin");
      await outsider.query(`select 1 from ${table} limit 1`);
    },
    saysWho: () =>
      until(() => messages.find((text) => text.includes("an operator's psql")), {
        what: "a message that names the session",
      }),
  };
}

/** A database as an older build left it: only the first migrations are applied. */
async function rewind(client: Client, count: number): Promise<void> {
  await client.query("drop schema pawl cascade; create schema pawl");
  await client.query("set search_path = pawl");
  await client.query(
    "create table migrations (name text primary key, applied_at timestamptz not null default now())",
  );
  for (const name of (await migrationNames()).slice(0, count)) {
    await client.query(await readFile(new URL(`./migrations/${name}`, import.meta.url), "utf8"));
    await client.query("insert into migrations (name) values ($1)", [name]);
  }
}

test("a migration behind an open transaction lets readers pass, names the session, and succeeds when it ends", async () => {
  const { url, outsider, reader, hold, messages, onWait, saysWho } = await setup();
  await rewind(reader, 2);
  await hold("pawl.runs");
  const migrating = migrate(url, onWait);
  expect(await saysWho()).toMatch(
    /^migration 0003_link_child_runs.sql waits for a lock on (pawl\.)?runs that session \d+ \(an operator's psql, postgres\) holds: idle in transaction .*select 1 from pawl.runs/,
  );
  // Behind a lock that waits for ever, each of these would wait for ever.
  for (let query = 0; query < 5; query += 1) await reader.query("select 1 from pawl.runs");
  await until(() => messages.some((text) => text.includes("the next try is in")), {
    what: "it to give way",
  });
  await outsider.query("rollback");
  expect(await migrating).toEqual((await migrationNames()).slice(2));
});

test("the installation of pg-boss waits for another session in the same way, and is complete when pg-boss starts", async () => {
  const { url, outsider, reader, messages, onWait, saysWho } = await setup();
  await outsider.query("begin");
  await outsider.query("create schema pgboss");
  const installing = installBoss(url, onWait);
  expect(await saysWho()).toMatch(/^the schema of pg-boss waits for a lock that session \d+/);
  await until(() => messages.some((text) => text.includes("the next try is in")), {
    what: "it to give way",
  });
  await outsider.query("rollback");
  await installing;
  expect((await reader.query("select version from pgboss.version")).rows).toHaveLength(1);
  await installBoss(url);
});

test("a definition that never gets its lock fails with a message that names the session to end", async () => {
  const { url, outsider, reader, hold, onWait } = await setup();
  await hold("pawl.runs");
  const { rows } = await reader.query<{ pid: number }>("select pg_backend_pid() as pid");
  const options = { url, what: "the test", onWait, patienceMs: 1_500 };
  const trying = untilLocked(options, rows[0]?.pid, () =>
    reader.query("set lock_timeout = '900ms'; lock table pawl.runs"),
  );
  await expect(trying).rejects.toThrow(
    /the test did not get its lock \(55P03\): a lock on pawl.runs that session \d+ .* End that session/,
  );
  await outsider.query("rollback");
});

test("a partition that waits for other sessions is reported, and the next call makes it", async () => {
  const { url, outsider, hold } = await setup();
  const pool = openPool(url, { max: 2, name: "pawl-partitions" });
  onTestFinished(() => pool.end());
  const blocked: string[] = [];
  const ask = () =>
    ensurePartitions(pool, {
      from: new Date("2027-03-01T00:00:00Z"),
      months: 1,
      onBlocked: (name) => void blocked.push(name),
    });
  await hold("pawl.run_events");
  expect(await ask()).toEqual([]);
  expect(blocked).toEqual(["run_events_2027_03"]);
  await outsider.query("rollback");
  expect(await ask()).toEqual(["run_events_2027_03"]);
});

test("two services that migrate at once apply each migration once", async () => {
  const { url, reader } = await setup();
  await rewind(reader, 0);
  const applied = await Promise.all([migrate(url), migrate(url), migrate(url)]);
  expect(applied.flat().toSorted()).toEqual(await migrationNames());
});
