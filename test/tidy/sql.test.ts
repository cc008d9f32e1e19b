// Every SQL statement fits the schema, and none reads a table from end to end.

import { ensurePartitions } from "@pawl/platform/db/partitions";
import { openPool, type Pool } from "@pawl/platform/db/pool";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../support/postgres.ts";
import { allStatements, plannedScans } from "../support/statements.ts";

/** Walks that are meant, by statement and table, and why they are cheap. */
const MEANT_WALKS: Readonly<Record<string, string>> = {
  "pawl_expired_leases leases":
    "the sweep looks at every lease held now; finished ones have no row",
  "pawl_forget_executors executors": "one row a process, looked at now and then",
  "pawl_read_alive_executors executors": "one row a process, looked at when somebody asks why",
  "pawl_count_alive_executors executors": "one row a process, counted when a probe asks",
  "pawl_count_workflow_jobs workflow_jobs":
    "walks workflow_jobs_unsettled, which holds what is claimed, paused or given up",
  "pawl_due_approvals approvals":
    "walks approvals_due in order, up to a limit; it holds open approvals with a deadline only",
  "pawl_count_leases leases": "counts every lease held now, when somebody asks",
  "pawl_count_leases runs": "the runs of those leases",
  "pawl_count_waiting_slots slots": "walks slots_waiting up to a limit, when somebody asks",
  "pawl_live_runs_of_workflow runs": "walks runs_deadline, which holds live runs only",
  "pawl_runs_to_pause runs":
    "walks runs_deadline, which holds live runs only, when a workflow is paused",
};

async function setup(): Promise<Pool> {
  const database = await freshDatabase();
  const pool = openPool(database.url, { max: 1, name: "pawl-tidy" });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  return pool;
}

/** 2,000 runs of ten events each, a lease and slots on each, and what they stand on; some months have partitions. */
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
    `insert into effects (run_id, node_id, iteration, name, class, begun_epoch)
     select run_id, 'n1', 0, 'e', 'idempotent', 1 from runs`,
  ]) {
    await pool.query({ text });
  }
}

/** Scans from end to end that nobody meant, in words. */
async function walks(pool: Pool): Promise<string[]> {
  const found: string[] = [];
  for (const statement of await allStatements()) {
    for (const { how, table, isNarrowed } of await plannedScans(pool, statement)) {
      const walk = `${statement.name} ${table}`;
      if (!isNarrowed && !(walk in MEANT_WALKS)) found.push(`${walk}: ${how}`);
    }
  }
  return found;
}

test("every statement is one of its file, named once, and prepares on the schema", async () => {
  const pool = await setup();
  const statements = await allStatements();
  for (const { name, text } of statements) {
    await pool.query({ text: `prepare ${name} as ${text}` });
  }
  expect(statements.length).toBeGreaterThan(30);
  expect(new Set(statements.map((each) => each.file)).size).toBe(statements.length);
  expect(statements.filter((each) => !/^pawl_[a-z_]+$/.test(each.name))).toEqual([]);
});

test("no statement reads a table from end to end, on empty, grown or analysed tables", async () => {
  const pool = await setup();
  expect(await walks(pool)).toEqual([]);
  await seed(pool);
  expect(await walks(pool)).toEqual([]);
  await pool.query({ text: "analyze" });
  expect(await walks(pool)).toEqual([]);
});
