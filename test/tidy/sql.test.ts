// Every query fits the schema and its declaration, and none reads a table from end to end.

import { TERMINAL_TYPES } from "@pawl/core/log/event";
import { camelCase } from "@pawl/platform/db/query";
import { ensurePartitions } from "@pawl/platform/db/partitions";
import { openPool, type Pool } from "@pawl/platform/db/pool";
import { installBoss } from "@pawl/platform/queue/boss-install";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import type { z } from "zod";
import { freshDatabase } from "../support/postgres.ts";
import { allQueries, describe, namesInFiles, plannedScans } from "../support/statements.ts";

/** Statements that may read a whole table, and why that is cheap. */
const MEANT_WALKS: Readonly<Record<string, string>> = {
  "pawl_db_migrations migrations": "one row a migration, read when a gateway starts",
  "pawl_leases_expired leases":
    "the sweep looks at every lease held now; finished ones have no row",
  "pawl_leases_forget_dead executors": "one row a process, looked at now and then",
  "pawl_leases_alive executors": "one row a process, looked at when a user asks why",
  "pawl_leases_served_by_others executors":
    "one row a process, looked at when an executor registers other schemas",
  "pawl_values_drop_unnamed value_refs":
    "the rows that the same statement has locked, by their place",
  "pawl_threads_forget_values thread_values":
    "the rows that the same statement found, by their place",
  "pawl_retention_left_logs removed_logs":
    "removed runs whose logs are being deleted, read now and then up to a limit",
  "pawl_values_garbage value_garbage": "bytes that a sweep has yet to remove",
  "pawl_node_types_names node_types": "one row a type, when a user saves a definition",
  "pawl_leases_count_alive executors": "one row a process, counted when a probe asks",
  "pawl_leases_count leases": "counts every lease held now, when a user asks",
  "pawl_leases_count runs": "the runs of those leases",
  "pawl_queue_count_commands workflow_jobs":
    "walks workflow_jobs_unsettled, which holds claimed, paused and dead-letter jobs",
  "pawl_runs_live_load runs":
    "walks runs_deadline up to a limit, once a minute; it holds live runs that do not wait",
  "pawl_tick_figures bulks":
    "reads the first entry of bulks_due, which holds bulks that need steps",
  "pawl_stats_newest queue_stats":
    "walks queue_stats_time from its newest end, where each sample has a row of all types",
  "pawl_stats_newest_pools queue_stats": "the same, for the last two samples",
  "pawl_stats_forget queue_stats": "walks queue_stats_time from its oldest end, up to a limit",
  "pawl_stats_forget process_stats": "walks the primary key from its oldest end, up to a limit",
  "pawl_queue_wait_ages queue": "one row a node type, read once a minute",
  "pawl_queue_count_waiting queue": "one row a node type, looked at when a user asks",
  "pawl_signals_due signal_waits":
    "walks signal_waits_due in order, up to a limit; it holds waits with a deadline only",
  "pawl_approvals_due approvals":
    "walks approvals_due in order, up to a limit; it holds open approvals with a deadline only",
  "pawl_slots_count_waiting slots": "walks slots_waiting up to a limit, when a user asks",
  "pawl_tick_figures slot_keys": "reads the first entry of slot_keys_wake",
  "pawl_tick_figures dead_letters": "walks dead_letters_open up to a limit",
  "pawl_tick_figures webhook_deliveries":
    "walks webhook_deliveries_due up to a limit; it holds deliveries that wait",
  "pawl_pauses_all webhook_endpoints": "at most 200 rows, read when a receiver changes",
  "pawl_bulks_active bulks":
    "walks bulks_due in order, up to a limit; it holds bulks under way only",
  "pawl_webhooks_callers executors": "one row a process, looked at when a user asks",
  "pawl_workflows_live_runs runs": "walks runs_deadline, which holds live runs only",
  "pawl_pauses_runs_to_pause runs":
    "walks runs_deadline, which holds live runs only, when a user pauses a workflow",
};

interface Database {
  readonly url: string;
  readonly pool: Pool;
}

async function setup(): Promise<Database> {
  const database = await freshDatabase();
  const { url } = database;
  await installBoss(url);
  const pool = openPool(url, { max: 1, name: "pawl-tidy" });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  return { url, pool };
}

/** 2,000 runs of ten events each, a lease and slots on each, and the rows that they refer to; some months have partitions. */
async function seed(pool: Pool): Promise<void> {
  await ensurePartitions(pool, { from: new Date("2026-11-16T00:00:00Z"), months: 3 });
  for (const text of [
    `insert into definitions (definition_id, tenant_id, workflow_id, version, digest, title, node_count, body)
     select gen_random_uuid(), 'acme', 'w' || n, 1, 'd', 't', 1, '{}' from generate_series(1, 500) n`,
    `insert into workflow_words (tenant_id, workflow_id, word) select tenant_id, workflow_id, workflow_id from definitions`,
    `insert into workflows (tenant_id, workflow_id, version, definition_id)
     select tenant_id, workflow_id, version, definition_id from definitions`,
    `insert into runs (run_id, tenant_id, definition_id, workflow_id, workflow_version, kind, status, version, last_seq, request_id, deadline_at)
     select gen_random_uuid(), 'acme', gen_random_uuid(), 'w1', 1, 'saved', 'running', 1, 10, 'r' || n, now() from generate_series(1, 2000) n`,
    `insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload)
     select run_id, n, 'node.queued', 'n' || n, 0, 1, 0, 0, '{}' from runs, generate_series(1, 10) n`,
    `insert into schedules (tenant_id, schedule_id, workflow_id, workflow_version, expression, time_zone, input, priority, missed, overlap)
     select 'acme', 's' || n, 'w' || n, 0, '@daily', 'UTC', 'null', 0, 'skip', 'allow' from generate_series(1, 500) n`,
    `insert into executors (executor_id, alive_until, session_id, node_types, slots, description)
     select gen_random_uuid(), now(), gen_random_uuid(), '{}', 1, '' from generate_series(1, 100)`,
    `insert into leases (run_id, node_id, iteration, epoch, attempt, executor_id)
     select run_id, 'n1', 0, 1, 1, gen_random_uuid() from runs`,
    `insert into workflow_jobs (job_id, run_id, command, priority, max_attempts, status, attempts, worker_id, claim_epoch,
       visible_until, enqueued_at, changed_at)
     select gen_random_uuid(), run_id, '{}', 0, 3, 'completed', 0, 'w', 1, now(), now(), now() from runs`,
    `insert into run_claims (run_id, epoch, claimed_at) select run_id, 1, now() from runs`,
    `insert into slots (slot_key, run_id, node_id, iteration, state, free_at, attempt, node_type, priority, share)
     select 'k' || row_number() over () % 200, run_id, 'n1', 0, s.state, case s.state when 'cooling' then now() end, 1, 'work', 0, 's'
     from runs, (values ('waiting'), ('cooling')) s (state)`,
    `insert into slot_keys (slot_key, slot_limit, wake_at) select 'k' || n, 5, now() from generate_series(0, 999) n`,
    `insert into webhook_endpoints (tenant_id, endpoint_id, url, description, events, workflow_ids, by_reference, headers, secret)
     select 'acme', 'e' || n, '', '', '{run.failed}', '{}', false, '{}', decode(repeat('00', 32), 'hex') from generate_series(1, 200) n`,
    `insert into run_webhooks (run_id, place, events, headers) select run_id, 0, '{run.failed}', '{}' from runs`,
    `insert into webhook_deliveries (run_id, delivery_id, tenant_id, event_type, event_id, node_id, iteration, target, endpoint_id,
       url, headers, result, state, ended_at)
     select run_id, gen_random_uuid(), 'acme', 'run.failed', n, '', 0, 'e1', 'e' || n, '', '{}', '{}',
       case n when 1 then 'pending' else 'delivered' end, case n when 1 then null else now() end
     from runs, generate_series(1, 5) n`,
    `insert into webhook_attempts (run_id, delivery_id, epoch, latency_ms, status_code, error)
     select run_id, delivery_id, 1, 1, 200, '' from webhook_deliveries`,
    `insert into threads (tenant_id, thread_id) select 'acme', 't' || n from generate_series(1, 1000) n`,
    `insert into assistants (tenant_id, assistant_id, workflow_id) select 'acme', 'a' || n, 'w' || n from generate_series(1, 500) n`,
    `insert into thread_runs (tenant_id, thread_id, position, run_id, state)
     select 'acme', 't' || (row_number() over () % 1000 + 1), row_number() over (), run_id, 'waiting' from runs`,
    `insert into bulks (bulk_id, tenant_id, request_hash, action, filter, options, state, ended_at)
     select gen_random_uuid(), 'acme', '', 'cancel', '', '{}', 'completed', now() from generate_series(1, 1000)`,
    `insert into bulk_runs (bulk_id, position, run_id, outcome)
     select (select bulk_id from bulks limit 1), row_number() over (), run_id, 'done' from runs`,
    `insert into effects (run_id, node_id, iteration, name, class, begun_epoch)
     select run_id, 'n1', 0, 'e', 'idempotent', 1 from runs`,
  ]) {
    await pool.query({ text });
  }
}

/** Scans from end to end that are not meant, in words. */
async function walks(pool: Pool): Promise<string[]> {
  const found: string[] = [];
  for (const query of await allQueries()) {
    for (const { how, table, isNarrowed } of await plannedScans(pool, query)) {
      const walk = `${query.name} ${table}`;
      if (!isNarrowed && !(walk in MEANT_WALKS)) found.push(`${walk}: ${how}`);
    }
  }
  return found;
}

const UUID = "0198c0de-0000-7000-8000-000000000000";
/** Values of each type, of which a declaration accepts one: as parameters, as text, and as the driver gives them. */
const SAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  text: ["x"],
  uuid: [UUID],
  interval: ["1 day"],
  integer: [1],
  bigint: [1],
  "double precision": [1],
  boolean: [true],
  "timestamp with time zone": [new Date(0), "-infinity"],
  json: [{}, "{}"],
  jsonb: [{}, "{}"],
  bytea: [Buffer.from("x")],
  void: [""],
};

/** The same for the columns of rows whose times are numbers. */
const NAMED_SAMPLES = { ...SAMPLES, "timestamp with time zone": [0] };

/** Whether a declared type takes values of a type of PostgreSQL. */
function fits(declared: z.ZodType | undefined, type: string, all = SAMPLES): boolean {
  const item = type.replace("[]", "");
  const samples = all[item] ?? [];
  const values = type === item ? samples : samples.map((sample) => [sample]);
  return values.some((value) => declared?.safeParse(value).success);
}

test("every query of every file is declared once, under a name that a statement may have", async () => {
  const queries = await allQueries();
  const declared = queries.map((query) => query.name);
  expect((await namesInFiles()).toSorted()).toEqual(declared.toSorted());
  expect(queries.length).toBeGreaterThan(100);
  expect(declared.filter((name) => !/^pawl_[a-z_]{1,55}$/.test(name))).toEqual([]);
});

test("every query prepares on the schema; its parameters and columns are the declared ones", async () => {
  const { url } = await setup();
  const client = new Client({
    connectionString: url,
    options: "-c search_path=pawl,pgboss",
  });
  await client.connect();
  onTestFinished(() => client.end());
  const differences: string[] = [];
  for (const query of await allQueries()) {
    const { parameters, columns } = await describe(client, query);
    for (const [at, name] of query.order.entries())
      if (!fits(query.given[name], parameters[at] ?? ""))
        differences.push(`${query.name}: the parameter ${name} is ${parameters[at]}`);
    const nameOf = (column: string): string => (query.isRaw ? column : camelCase(column));
    const names = [...columns.keys()].map(nameOf).toSorted();
    if (names.join() !== Object.keys(query.columns).toSorted().join())
      differences.push(`${query.name} gives ${names.join(", ")}`);
    for (const [column, type] of columns)
      if (!fits(query.columns[nameOf(column)], type, query.isRaw ? SAMPLES : NAMED_SAMPLES))
        differences.push(`${query.name}: the column ${column} is ${type}`);
  }
  expect(differences).toEqual([]);
});

test("the statements of a tick announce exactly the terminal events", async () => {
  const listed = TERMINAL_TYPES.map((type) => `'${type}'`).join(", ");
  const appending = (await allQueries()).filter((query) => query.text.includes("pawl_ends"));
  expect(appending.map((query) => query.name).toSorted()).toEqual([
    "pawl_tick_create_runs",
    "pawl_tick_move_runs",
  ]);
  for (const { text } of appending) expect(text).toContain(`when type in (${listed}) then`);
});

test("no query reads a table from end to end, on empty, grown or analysed tables", async () => {
  const { pool } = await setup();
  expect(await walks(pool)).toEqual([]);
  await seed(pool);
  expect(await walks(pool)).toEqual([]);
  await pool.query({ text: "analyze" });
  expect(await walks(pool)).toEqual([]);
});
