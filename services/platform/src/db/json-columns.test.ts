import { readFile } from "node:fs/promises";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../../../test/support/postgres.ts";
import { migrate } from "./migrate.ts";

const NAMES = ["0016_keep_json_to_the_letter.sql", "0017_drop_tags_view.sql"];
const RUN = "0199a000-0000-7000-8000-000000000001";

/** A database of an older build, with a log in it. */
async function setup(): Promise<{ readonly url: string; readonly db: Client }> {
  const database = await freshDatabase();
  const db = new Client({ connectionString: database.url });
  await db.connect();
  onTestFinished(async () => {
    await db.end();
    await database.drop();
  });
  await db.query("set search_path = pawl");
  await db.query("alter table run_events alter column value type jsonb using value::jsonb");
  const tags = await readFile(
    new URL("./migrations/0002_read_tags_and_keys.sql", import.meta.url),
    "utf8",
  );
  await db.query(tags.slice(0, tags.indexOf(");\n") + 2));
  await db.query("delete from migrations where name = any ($1)", [NAMES]);
  await db.query(
    `create table run_events_old partition of run_events
     for values from ('00000000-0000-0000-0000-000000000000') to ('0fffffff-0000-0000-0000-000000000000')`,
  );
  await db.query(
    `insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload, value)
     values ($1, 1, 'run.started', '', 0, 0, 0, 0, '{}', '{"z":1,"a":2.50}'),
       ($1, 2, 'contract.violated', 'a', 0, 1, 1, 0, '{"phase":"input"}', '[{"path":"x"}]'),
       ($1, 3, 'run.status.changed', '', 0, 0, 0, 0, '{"from":"running","to":"waiting"}', null)`,
    [RUN],
  );
  return { url: database.url, db };
}

test("a log of an older build keeps its values when its columns become json, and the view of tags is dropped", async () => {
  const { url, db } = await setup();
  expect(await migrate(url)).toEqual(NAMES);
  const { rows } = await db.query(
    "select value::text, pg_typeof(value)::text as type from run_events order by seq",
  );
  expect(rows).toEqual([
    { value: '{"a": 2.50, "z": 1}', type: "json" },
    { value: '[{"path": "x"}]', type: "json" },
    { value: null, type: "json" },
  ]);
  expect((await db.query("select to_regclass('execution_tags') as view")).rows).toEqual([
    { view: null },
  ]);
  // A scheduler of the build before writes jsonb, which the column takes.
  await db.query(
    "insert into run_events select run_id, 4, type, node_id, iteration, 2, epoch, ordinal, payload, '{\"b\":1}'::jsonb from run_events where seq = 2",
  );
  expect((await db.query("select value::text from run_events where seq = 4")).rows).toEqual([
    { value: '{"b": 1}' },
  ]);
});
