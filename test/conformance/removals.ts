// Removals in steps: no statement deletes more of a log than a page, whatever the length, and a kill between two steps loses no step.

import type { RunId } from "@pawl/core/name/ids";
import type { Queryable } from "@pawl/platform/db/query";
import { createThreads } from "@pawl/platform/store/threads/writes";
import { leftLogs, removeLogs } from "@pawl/platform/store/retention/writes";
import { expect, onTestFinished, test } from "vitest";
import { begin, change, newRunId } from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";

const KEY = { tenantId: "acme", threadId: "long" };
const PAGE = 5_000;

/** Writes down how many events each statement deletes. */
async function watchPages(db: Queryable): Promise<() => Promise<number[]>> {
  const run = (text: string) => db.query<{ n: number }>({ text });
  await run("create table pawl.pages (n integer)");
  await run(`create function pawl.note_page() returns trigger language plpgsql as
    $$ begin insert into pawl.pages select count(*) from gone; return null; end $$`);
  await run(`create trigger note_page after delete on pawl.run_events
    referencing old table as gone for each statement execute function pawl.note_page()`);
  onTestFinished(async () => {
    await run("drop trigger note_page on pawl.run_events");
    await run("drop function pawl.note_page()");
    await run("drop table pawl.pages");
  });
  return async () => (await run("select n from pawl.pages order by n desc")).rows.map(({ n }) => n);
}

/** Gives a run a log of this many events. */
async function lengthen(db: Queryable, runId: RunId, events: number): Promise<void> {
  const log = `insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload)
    select $1, n, 'node.log', 'x', 0, 1, 0, n, '{}' from generate_series(10, $2::integer + 9) n`;
  await db.query({ text: log, values: [runId, events] });
  const text = "update runs set last_seq = $2 where run_id = $1";
  await db.query({ text, values: [runId, events + 9] });
}

const count = async (db: Queryable, table: string): Promise<number> => {
  const text = `select count(*)::integer as n from ${table}`;
  return (await db.query<{ n: number }>({ text })).rows[0]?.n ?? -1;
};

export function removalSuite(open: OpenStore): void {
  test("a thread of 1,200 runs, one of them with a long log, is removed in steps by two schedulers (S4.2)", async () => {
    const { journal, threads, db } = await setup(open);
    if (db === undefined) throw new Error("no database");
    const pages = await watchPages(db);
    const long = await begin(journal);
    await journal.transact(async (tx) => {
      await tx.advance([change(long, 1, 0, { status: "completed", ended: true })]);
    });
    await lengthen(db, long, 2.4 * PAGE);
    for (const text of [
      "insert into threads (tenant_id, thread_id) values ('acme', 'long')",
      `insert into runs (run_id, tenant_id, definition_id, workflow_id, workflow_version, kind, status, version, last_seq, deadline_at, ended_at)
       select gen_random_uuid(), 'acme', gen_random_uuid(), 'w1', 1, 'saved', 'completed', 1, 30, now(), now() from generate_series(1, 1199) n`,
      `insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload)
       select run_id, n, 'node.queued', 'n' || n, 0, 1, 0, 0, '{}' from runs, generate_series(1, 2) n where workflow_id = 'w1'`,
      `insert into thread_runs (tenant_id, thread_id, position, run_id, state)
       select 'acme', 'long', row_number() over (), run_id, 'over' from runs`,
    ])
      await db.query({ text });
    expect(await threads.close(KEY)).toBe("closed");
    expect(await threads.removeSome(KEY)).toBe("more");
    // This scheduler is gone. Another one finds the mark.
    expect(await count(db, "runs")).toBe(700);
    const other = createThreads(db as Parameters<typeof createThreads>[0]);
    expect(await other.closed()).toEqual([KEY]);
    while ((await other.removeSome(KEY)) === "more");
    for (const table of ["threads", "thread_runs", "runs", "run_events", "removed_logs"])
      expect([table, await count(db, table)]).toEqual([table, 0]);
    expect((await pages())[0]).toBe(PAGE);
  });

  test("the log of a temporary run goes in pages, and after a kill in between another scheduler finds the rest (S4.9, X19)", async () => {
    const { journal, db } = await setup(open);
    if (db === undefined) throw new Error("no database");
    const pages = await watchPages(db);
    const runId = await begin(journal, { kind: "temporary" });
    const left = await begin(journal);
    for (const each of [runId, left])
      await journal.transact(async (tx) => {
        await tx.advance([change(each, 1, 0, { status: "completed", ended: true })]);
      });
    await lengthen(db, runId, 2 * PAGE);
    expect(await journal.deleteUnkept([runId])).toEqual([runId]);
    expect((await pages())[0]).toBe(PAGE);
    expect(await count(db, "run_events")).toBe(1);
    // As a kill leaves it: the row is gone, the log is not.
    await db.query({ text: "delete from runs where run_id = $1", values: [left] });
    await db.query({ text: "insert into removed_logs (run_id) values ($1)", values: [left] });
    expect(await leftLogs(db, 10)).toEqual([left]);
    await removeLogs(db, [left]);
    expect([await count(db, "run_events"), await count(db, "removed_logs")]).toEqual([0, 0]);
  });

  test.each(["vacuum", "analyze"])(
    "a log goes in pages also if PostgreSQL believes after %s that it is empty (S4.9)",
    async (statistics) => {
      const { db } = await setup(open);
      if (db === undefined) throw new Error("no database");
      const gone = newRunId();
      await lengthen(db, gone, 200);
      await db.query({ text: "delete from run_events" });
      await db.query({ text: `${statistics} pawl.run_events` });
      await lengthen(db, gone, 2.4 * PAGE);
      // A plan that compares the page with the whole log takes longer than a statement may.
      await removeLogs(db, [gone]);
      expect(await count(db, "run_events")).toBe(0);
    },
  );
}
