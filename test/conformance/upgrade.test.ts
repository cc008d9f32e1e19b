// A database of the build before this one: its rows are there after the migrations.

import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { approvalId, runId } from "@pawl/core/name/ids";
import { migrate, migrationNames } from "@pawl/platform/db/migrate";
import { openPool } from "@pawl/platform/db/pool";
import { getApproval, listApprovals } from "@pawl/platform/store/approvals/reads";
import { listDeadLetters } from "@pawl/platform/store/dead-letters/reads";
import { findRequests } from "@pawl/platform/store/runs/reads";
import { deleteUnkept } from "@pawl/platform/store/runs/writes";
import { Client } from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { databaseUrl, execute } from "../support/template.ts";

const MIGRATIONS = new URL("../../services/platform/src/db/migrations/", import.meta.url);
const LAST_BEFORE = "0017_drop_tags_view.sql";
const TENANT = "default";
const RUN = runId("0198c0de-0000-7000-8000-000000000001");
const APPROVAL = approvalId("0198c0de-0000-7000-8000-000000000002");

/** A database with the schema of the build before. */
async function oldDatabase(): Promise<string> {
  const server = inject("postgresUrl");
  const name = `upgrade_${randomUUID().replaceAll("-", "")}`;
  await execute(server, `create database ${name}`);
  onTestFinished(() => execute(server, `drop database ${name} with (force)`));
  const url = databaseUrl(server, name);
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("create schema pawl; set search_path = pawl");
  await client.query(
    "create table migrations (name text primary key, applied_at timestamptz not null default now())",
  );
  for (const migration of (await migrationNames()).filter((each) => each <= LAST_BEFORE)) {
    await client.query(await readFile(new URL(migration, MIGRATIONS), "utf8"));
    await client.query("insert into migrations (name) values ($1)", [migration]);
  }
  await client.end();
  return url;
}

/** A finished test run with a request id, an open approval, a dead letter and slots, as the build before wrote them. */
const ROWS = [
  `insert into runs (run_id, tenant_id, definition_id, workflow_version, kind, status, version, last_seq, request_id, request_hash,
     deadline_at, ended_at)
   values ('${RUN}', '${TENANT}', gen_random_uuid(), 0, 'test', 'completed', 3, 4, 'once', 'hash', now(), now())`,
  `insert into approvals (approval_id, tenant_id, run_id, node_id, iteration, reason, message, assignees)
   values ('${APPROVAL}', '${TENANT}', '${RUN}', 'ask', 0, 'approval', 'May I?', '{}')`,
  `insert into dead_letters (dead_letter_id, tenant_id, run_id, node_id, iteration, attempt, node_type, deliveries, executor_id, reason,
     error_message)
   values (gen_random_uuid(), '${TENANT}', '${RUN}', 'work', 0, 1, 'task', 3, gen_random_uuid(), 'lost', '')`,
  `insert into slot_keys (slot_key, slot_limit) values ('k', 1)`,
  `insert into slots (slot_key, run_id, node_id, iteration, state, attempt, node_type, priority, share)
   values ('k', '${RUN}', 'a', 0, 'held', 1, 'task', 0, ''), ('k', '${RUN}', 'b', 0, 'waiting', 1, 'task', 0, '')`,
  `insert into workflow_jobs (job_id, run_id, command, priority, max_attempts, status, attempts, worker_id, claim_epoch, visible_until,
     enqueued_at, changed_at)
   values (gen_random_uuid(), '${RUN}', '{}', 0, 3, 'active', 0, 'w', 1, now(), now(), now())`,
];

test("request ids, approvals, dead letters, slots and commands of the build before are found", async () => {
  const url = await oldDatabase();
  const old = new Client({ connectionString: url, options: "-c search_path=pawl" });
  await old.connect();
  for (const text of ROWS) await old.query(text);
  await old.end();

  const applied = await migrate(url);
  expect(applied.length).toBeGreaterThan(0);
  expect(await migrate(url)).toEqual([]);

  const pool = openPool(url, { max: 1, name: "pawl-upgrade" });
  onTestFinished(() => pool.end());
  const request = { requestId: "once", requestHash: "hash", runId: RUN };
  expect(await findRequests(pool, TENANT, ["once"])).toEqual([request]);
  expect(await getApproval(pool, TENANT, APPROVAL)).toMatchObject({ runId: RUN, state: "open" });
  const all = { states: [], workflowId: "", assignee: "", runId: RUN };
  const page = { size: 10, token: "" };
  expect((await listApprovals(pool, TENANT, all, page)).rows).toHaveLength(1);
  const filter = { ids: [], workflowId: "", nodeType: "", beforeMs: undefined, states: [] };
  expect((await listDeadLetters(pool, TENANT, filter, page)).rows).toHaveLength(1);
  const { rows } = await pool.query({ text: "select state from slots order by slot_id" });
  expect(rows).toEqual([{ state: "held" }, { state: "waiting" }]);

  expect(await deleteUnkept(pool, [RUN])).toEqual([RUN]);
  expect(await findRequests(pool, TENANT, ["once"])).toEqual([]);
  expect(await getApproval(pool, TENANT, APPROVAL)).toBeUndefined();
});
