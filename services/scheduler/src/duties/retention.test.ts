// Retention on PostgreSQL: which runs go, and that the database gets smaller.

import { readRetention } from "@pawl/core/policy/retention";
import { ensurePartitions } from "@pawl/platform/db/partitions";
import { openPool, type Pool } from "@pawl/platform/db/pool";
import { withSessionLock } from "@pawl/platform/db/session-lock";
import { createLogger } from "@pawl/platform/telemetry/log";
import { expect, onTestFinished, test } from "vitest";
import { writeOldRuns } from "../../../../test/support/old-runs.ts";
import { freshDatabase } from "../../../../test/support/postgres.ts";
import { until } from "../../../../test/support/until.ts";
import { sweepRetention } from "./retention.ts";

const JUNE = new Date("2026-06-10T00:00:00Z");
const JULY = new Date("2026-07-10T00:00:00Z");

async function setup() {
  const database = await freshDatabase();
  const pool = openPool(database.url, { max: 4, name: "pawl-retention" });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  await ensurePartitions(pool, { from: JUNE, months: 2 });
  const log = createLogger({ service: "test", level: "silent" });
  const names = async (text: string, values: unknown[] = []): Promise<string[]> =>
    (await pool.query<{ name: string }>({ text, values })).rows.map((row) => row.name);
  return {
    pool,
    sweep: (policy: string, now = Date.now) =>
      sweepRetention({ pool, policy: policyOf(policy), now, log }),
    runs: () => names("select run_id::text as name from runs order by run_id"),
    months: () =>
      names(
        `select c.relname::text as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
         where inhparent = 'run_events'::regclass and c.relname like '%2026_0%' order by 1`,
      ),
    eventsOf: (runIds: readonly string[]) =>
      names(
        "select seq::text as name from run_events where run_id = any ($1) order by run_id, seq",
        [runIds],
      ),
  };
}

function policyOf(text: string) {
  const policy = readRetention(text);
  if (policy === undefined) throw new Error(`faulty: ${text}`);
  return policy;
}

const touch = (pool: Pool, runId: string, seq: number) =>
  pool.query({
    text: `with moved as (update runs set last_seq = $2 where run_id = $1)
      insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload)
      values ($1, $2, 'node.queued', 'n', $2, 0, 0, 0, '{}')`,
    values: [runId, seq],
  });

test("runs go by the rule of their workflow and status; live runs and runs without a rule stay (X19)", async () => {
  const { pool, sweep, runs } = await setup();
  const [old = ""] = await writeOldRuns(pool, { at: JUNE, count: 1 });
  const [failed = ""] = await writeOldRuns(pool, { at: JUNE, count: 1, status: "failed" });
  const [running = ""] = await writeOldRuns(pool, { at: JUNE, count: 1, status: "running" });
  const [audit = ""] = await writeOldRuns(pool, { at: JUNE, count: 1, workflowId: "audit" });
  const [young = ""] = await writeOldRuns(pool, { at: new Date(), count: 1 });
  await sweep("");
  expect(await runs()).toHaveLength(5);
  await sweep("completed=1d,audit/all=forever");
  expect(await runs()).toEqual([failed, running, audit, young].toSorted());
  expect(await runs()).not.toContain(old);
  await sweep("audit/completed=1d");
  expect(await runs()).toEqual([failed, running, young].toSorted());
});

test("a run leaves no row in any other table, and its request id may be used again (X19)", async () => {
  const { pool, sweep } = await setup();
  const [runId = ""] = await writeOldRuns(pool, { at: JUNE, count: 1 });
  for (const text of [
    `insert into run_requests (tenant_id, request_id, request_hash, run_id) select tenant_id, request_id, '', run_id from runs`,
    `insert into effects (run_id, node_id, iteration, name, class, begun_epoch) select run_id, 'n', 0, 'e', 'idempotent', 1 from runs`,
    `insert into run_snapshots (run_id, seq, format, digest, body) select run_id, 1, 1, 1, '' from runs`,
    `insert into run_repairs (run_id, repair_of, plan_digest) select run_id, gen_random_uuid(), '' from runs`,
    `insert into dead_letters (dead_letter_id, tenant_id, run_id, node_id, iteration, attempt, node_type, deliveries, executor_id, reason, error_message)
     select gen_random_uuid(), tenant_id, run_id, 'n', 0, 1, 't', 3, gen_random_uuid(), '', '' from runs`,
    `insert into approvals (approval_id, tenant_id, run_id, node_id, iteration, reason, message, assignees, state)
     select gen_random_uuid(), tenant_id, run_id, 'n', 0, '', '', '{}', 'approved' from runs`,
    `insert into workflow_jobs (job_id, run_id, command, priority, max_attempts, status, attempts, worker_id, claim_epoch, visible_until, enqueued_at, changed_at)
     select gen_random_uuid(), run_id, '{}', 0, 3, 'completed', 1, '', 1, now(), now(), now() from runs`,
    `insert into run_metadata (run_id, metadata) select run_id, '{}' from runs`,
    `insert into run_webhooks (run_id, place, events, headers) select run_id, 0, '{}', '{}' from runs`,
    `insert into stored_values (sha256, generation, bytes) values ('', gen_random_uuid(), 1)`,
    `insert into value_refs (run_id, sha256) select run_id, '' from runs`,
    `insert into threads (tenant_id, thread_id) values ('default', 'talk')`,
    `insert into thread_runs (tenant_id, thread_id, position, run_id, state) select tenant_id, 'talk', 1, run_id, 'over' from runs`,
  ])
    await pool.query({ text });
  const tables = async (): Promise<string[]> => {
    const { rows } = await pool.query<{ name: string; found: boolean }>({
      text: `select c.relname as name,
          (xpath('/row/n/text()', query_to_xml(format('select count(*) as n from %I where run_id = %L', c.relname, $1::text), true, true, '')))[1]::text <> '0' as found
        from pg_attribute a join pg_class c on c.oid = a.attrelid
        where a.attname = 'run_id' and c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = current_schema()::regnamespace
        order by 1`,
      values: [runId],
    });
    return rows.flatMap(({ name, found }) => (found ? [name] : []));
  };
  expect(await tables()).toEqual([
    ...["approvals", "dead_letters", "effects", "run_events", "run_metadata", "run_repairs"],
    ...["run_requests", "run_snapshots", "run_webhooks", "runs", "thread_runs", "value_refs"],
    "workflow_jobs",
  ]);
  await sweep("all=1d");
  expect(await tables()).toEqual([]);
});

test("a child run stays as long as its parent, and a parent stays while a child of it is live", async () => {
  const { pool, sweep, runs } = await setup();
  const [parent = ""] = await writeOldRuns(pool, { at: JULY, count: 1, status: "failed" });
  const [child = ""] = await writeOldRuns(pool, { at: JUNE, count: 1, parentRunId: parent });
  const undoing = { at: JUNE, count: 1, status: "compensating", parentRunId: parent };
  const [live = ""] = await writeOldRuns(pool, undoing);
  expect(await sweep("all=1d")).toBe(false);
  expect(await runs()).toEqual([child, live, parent].toSorted());
  await pool.query({
    text: "update runs set status = 'completed', ended_at = now() - interval '2 days' where run_id = $1",
    values: [live],
  });
  // The parent goes first. The sweep says that more is due.
  while (await sweep("all=1d"));
  expect(await runs()).toEqual([]);
});

test("a month without runs is dropped, and a month of which few runs are left keeps only their logs (S4.1)", async () => {
  const { pool, sweep, months, runs, eventsOf } = await setup();
  await writeOldRuns(pool, { at: JUNE, count: 300 });
  await writeOldRuns(pool, { at: JULY, count: 500 });
  const kept = await writeOldRuns(pool, { at: JULY, count: 2, status: "failed", events: 7 });
  const [live = ""] = await writeOldRuns(pool, {
    at: JULY,
    count: 1,
    status: "waiting",
    events: 4,
  });
  await sweep("completed=30d");
  expect(await months()).toEqual(["run_events_2026_07"]);
  expect(await runs()).toEqual([...kept, live].toSorted());
  const { rows } = await pool.query<{ events: number }>({
    text: "select count(*)::integer as events from run_events_2026_07",
  });
  expect(rows[0]?.events).toBe(2 * 7 + 4);
  // The log of the live run continues, and its keys still hold.
  await touch(pool, live, 5);
  expect(await eventsOf([live])).toEqual(["1", "2", "3", "4", "5"]);
  await expect(touch(pool, live, 5)).rejects.toThrow();
  await sweep("all=30d");
  expect(await runs()).toEqual([live]);
  await pool.query({
    text: "update runs set status = 'failed', ended_at = now() - interval '40 days' where run_id = $1",
    values: [live],
  });
  await sweep("all=30d");
  expect(await months()).toEqual([]);
});

test("events that a live run gets while its month is copied are in the new month", async () => {
  const { pool, sweep, eventsOf } = await setup();
  await writeOldRuns(pool, { at: JUNE, count: 1_000 });
  const lives = await writeOldRuns(pool, { at: JUNE, count: 20, status: "running", events: 4 });
  const over = new AbortController();
  let seq = 4;
  const appending = (async () => {
    while (!over.signal.aborted && seq < 400) {
      seq += 1;
      for (const live of lives) await touch(pool, live, seq);
    }
  })();
  await sweep("all=30d");
  over.abort();
  await appending;
  const expected = Array.from({ length: seq }, (_, at) => String(at + 1));
  for (const live of lives) expect(await eventsOf([live])).toEqual(expected);
  const { rows } = await pool.query<{ runs: number }>({
    text: "select count(distinct run_id)::integer as runs from run_events",
  });
  expect(rows[0]?.runs).toBe(lives.length);
});

test("a month gives way to another session's lock, and the next sweep drops it", async () => {
  const { pool, sweep, months } = await setup();
  await writeOldRuns(pool, { at: JUNE, count: 1 });
  const reader = await pool.connect();
  await reader.query({ text: "begin" });
  await reader.query({ text: "select 1 from run_events limit 1" });
  await sweep("all=1d");
  expect(await months()).toContain("run_events_2026_06");
  await reader.query({ text: "rollback" });
  reader.release();
  await sweep("all=1d");
  expect(await months()).not.toContain("run_events_2026_06");
});

test("the current month is never dropped, and rows without a month go with their run", async () => {
  const { pool, sweep, months, eventsOf } = await setup();
  const april = await writeOldRuns(pool, { at: new Date("2026-04-10T00:00:00Z"), count: 3 });
  expect(await eventsOf(april)).toHaveLength(9);
  await sweep("all=1d", () => JUNE.getTime());
  expect(await eventsOf(april)).toEqual([]);
  expect(await months()).toEqual(["run_events_2026_06", "run_events_2026_07"]);
});

test("one scheduler at a time applies retention, and its lock goes with its session (S4.1)", async () => {
  const { pool, sweep, runs } = await setup();
  await writeOldRuns(pool, { at: JUNE, count: 1 });
  await withSessionLock(pool, "retention", async () => {
    expect(await sweep("all=1d")).toBe(false);
    expect(await runs()).toHaveLength(1);
  });
  const dying = withSessionLock(pool, "retention", (session) =>
    session.query({ text: "select pg_terminate_backend(pg_backend_pid())" }),
  );
  await expect(dying).rejects.toThrow();
  const isFree = async (): Promise<boolean> => {
    await sweep("all=1d");
    return (await runs()).length === 0;
  };
  await until(isFree, { what: "the dead session's lock to be free" });
});

test("stream deltas of a completed execution lose their text after a while; others keep it (X20)", async () => {
  const { pool, sweep } = await setup();
  const [runId = ""] = await writeOldRuns(pool, { at: JULY, count: 1, events: 3 });
  const [young = ""] = await writeOldRuns(pool, { at: new Date(), count: 1, events: 3 });
  const delta = (id: string, seq: number, node: string) =>
    pool.query({
      text: `insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload)
        values ($1, $2::integer, 'node.stream.delta', $3, 0, 1, 5, $2::integer, jsonb_build_object('deltaIndex', $2::integer, 'text', 'words'))`,
      values: [id, seq, node],
    });
  for (const id of [runId, young]) {
    for (const seq of [10, 11]) await delta(id, seq, "done");
    await delta(id, 12, "failed");
    await pool.query({
      text: `insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload)
        values ($1, 13, 'node.completed', 'done', 0, 1, 5, 0, '{}')`,
      values: [id],
    });
  }
  const texts = async (id: string) =>
    (
      await pool.query<{ seq: number; text: string }>({
        text: `select (payload->>'deltaIndex')::integer as seq, payload->>'text' as text from run_events
          where run_id = $1 and type = 'node.stream.delta' order by seq`,
        values: [id],
      })
    ).rows.map(({ seq, text }) => `${seq} ${text}`);
  await sweep("deltas=1d");
  expect(await texts(runId)).toEqual(["10 ", "11 ", "12 words"]);
  expect(await texts(young)).toEqual(["10 words", "11 words", "12 words"]);
});
