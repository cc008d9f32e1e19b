// Proves that the checks can fail: each test breaks one rule by hand in the database.
import { randomUUID } from "node:crypto";
import { BossQueue } from "@pawl/platform/queue/boss";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { graph } from "../flow/graph.ts";
import { checkInvariants } from "./invariants.ts";
import { freshDatabase, type FreshDatabase } from "./postgres.ts";

let database: FreshDatabase;
let client: Client;

beforeAll(async () => {
  database = await freshDatabase();
  const boss = new BossQueue(database.url, (error) => console.warn(error));
  await boss.start(["noop"]);
  await boss.stop();
  client = new Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

type Row = {
  readonly type: string;
  readonly node?: string;
  readonly epoch?: number;
  readonly payload?: object;
};

const QUEUED_AND_DONE = (node: string, at: number): Row[] => [
  { type: "node.queued", node },
  { type: "node.started", node, epoch: at + 1, payload: { executorId: "e" } },
  { type: "node.completed", node, epoch: at + 1, payload: { durationMs: 1 } },
];

const STARTED: Row = {
  type: "run.started",
  payload: { definitionDigest: "d", workflowVersion: 0, kind: "test", deadlineAt: 0 },
};

/** The log of a run of two nodes that ended well. */
const WELL: readonly Row[] = [
  STARTED,
  ...QUEUED_AND_DONE("start", 2),
  ...QUEUED_AND_DONE("a", 5),
  { type: "run.completed", payload: { hasFailures: false } },
];

async function insertRun(rows: readonly Row[], status = "completed"): Promise<string> {
  const [runId, definitionId] = [randomUUID(), randomUUID()];
  await client.query(
    `insert into pawl.definitions (definition_id, tenant_id, digest, title, node_count, body)
     values ($1, 't', 'd', '', 2, $2)`,
    [definitionId, JSON.stringify(graph(["start > a"]))],
  );
  await client.query(
    `insert into pawl.runs (run_id, tenant_id, definition_id, workflow_version, kind, status, version, last_seq, ended_at, deadline_at)
     values ($1, 't', $2, 0, 'test', $3, 1, $4, $5, to_timestamp(0))`,
    [runId, definitionId, status, rows.length, status === "completed" ? new Date() : null],
  );
  for (const [index, { type, node = "", epoch = 0, payload = {} }] of rows.entries())
    await client.query(
      `insert into pawl.run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload, value)
       values ($1, $2, $3, $4, 0, $5, $6, 0, $7, 'null')`,
      [runId, index + 1, type, node, node === "" ? 0 : 1, epoch, payload],
    );
  return runId;
}

test("a log that holds breaks no rule", async () => {
  const runId = await insertRun(WELL);
  expect(await checkInvariants(database.url, [runId])).toEqual([]);
});

test("a receiver without a delivery of the end of its run, and a delivery without its event, are found (S4.6)", async () => {
  const runId = await insertRun(WELL);
  await client.query(
    "insert into pawl.run_webhooks (run_id, place, events, headers) values ($1, 0, '{run.completed,node.failed}', '{}')",
    [runId],
  );
  const none = `${runId}: receiver 0 has 0 deliveries of run.completed`;
  expect(await checkInvariants(database.url, [runId])).toEqual([none]);
  const deliver = (eventId: number) =>
    client.query(
      `insert into pawl.webhook_deliveries
         (run_id, delivery_id, tenant_id, event_type, event_id, node_id, iteration, target, url, headers, result)
       values ($1, gen_random_uuid(), 't', 'run.completed', $2, '', 0, 'run 0', '', '{}', '{}')`,
      [runId, eventId],
    );
  await deliver(WELL.length);
  expect(await checkInvariants(database.url, [runId])).toEqual([]);
  await deliver(1);
  const [fault = "", ...others] = await checkInvariants(database.url, [runId]);
  expect(others).toEqual([]);
  expect(fault).toContain("has no event run.completed");
});

test.for([
  ["a gap", "delete from pawl.run_events where run_id = $1 and seq = 3", "seq 3 was due"],
  ["a wrong last_seq", "update pawl.runs set last_seq = 9 where run_id = $1", "runs.last_seq"],
  [
    "a wrong status",
    "update pawl.runs set status = 'failed' where run_id = $1",
    "the row says failed",
  ],
  [
    "a wrong has_failures",
    "update pawl.runs set has_failures = true where run_id = $1",
    "has_failures is true",
  ],
  [
    "an end without ended_at",
    "update pawl.runs set ended_at = null where run_id = $1",
    "ended_at is not set",
  ],
  [
    "a stale epoch",
    "update pawl.run_events set epoch = 1 where run_id = $1 and seq = 7",
    "node.completed of epoch 1 under claim 6",
  ],
  [
    "a result without a claim",
    "update pawl.run_events set epoch = 0 where run_id = $1 and seq = 7",
    "node.completed of epoch 0",
  ],
  [
    "a start that was not queued",
    "update pawl.run_events set attempt = 2 where run_id = $1 and seq = 6",
    "a starts 2, not queued",
  ],
  [
    "a lease that outlived its run",
    "insert into pawl.leases values ($1, 'a', 0, 6, 1, gen_random_uuid())",
    "a lease of a at 6, which is completed",
  ],
  ["a lost run", "delete from pawl.runs where run_id = $1", "the run is lost"],
])("%s is found", async ([, statement = "", rule]) => {
  const runId = await insertRun(WELL);
  await client.query(statement, [runId]);
  expect((await checkInvariants(database.url, [runId])).join("\n")).toContain(rule);
});

test("a second result of one node is found", async () => {
  const again = { type: "node.completed", node: "a", epoch: 6, payload: { durationMs: 1 } };
  // The unique index refuses a second node.completed of one attempt, so the second result is of another kind.
  const runId = await insertRun(
    [...WELL.slice(0, -1), { ...again, type: "node.failed" }],
    "running",
  );
  expect((await checkInvariants(database.url, [runId])).join("\n")).toContain(
    "node.failed of a, which settled at 7",
  );
});

test("a start that the budget covers only after a later top-up is found", async () => {
  const budget = { executions: 1, onExceeded: "pause" };
  const begun = { ...STARTED, payload: { ...STARTED.payload, budget } };
  const raised = {
    type: "run.budget.raised",
    payload: { executions: 1, requestId: "r", who: "", reason: "" },
  };
  const [, , , , ...rest] = WELL;
  const runId = await insertRun([
    begun,
    ...QUEUED_AND_DONE("start", 2),
    ...rest.slice(0, -1),
    raised,
    ...rest.slice(-1),
  ]);
  expect((await checkInvariants(database.url, [runId])).join("\n")).toContain(
    "at 6: 2 nodes started with a budget of 1",
  );
});

test("an event behind the end is found", async () => {
  const runId = await insertRun([...WELL, { type: "run.metadata.set" }]);
  expect((await checkInvariants(database.url, [runId])).join("\n")).toContain(
    "run.completed is not the last",
  );
});

test("a run that nothing would move is found, and so is a queued node without a job", async () => {
  const idle = await insertRun([STARTED, ...QUEUED_AND_DONE("start", 2)], "running");
  expect((await checkInvariants(database.url, [idle])).join("\n")).toContain(
    "nothing would move it",
  );
  const queued = await insertRun(
    [STARTED, ...QUEUED_AND_DONE("start", 2), { type: "node.queued", node: "a" }],
    "running",
  );
  expect((await checkInvariants(database.url, [queued])).join("\n")).toContain(
    "a is queued with 0 jobs",
  );
});

test("a node that waits for a run which is over is found, and so is a run whose parent is over", async () => {
  const child = await insertRun(WELL);
  const waiting = await insertRun(
    [
      STARTED,
      ...QUEUED_AND_DONE("start", 2),
      ...QUEUED_AND_DONE("a", 5).slice(0, 2),
      {
        type: "node.blocked",
        node: "a",
        epoch: 6,
        payload: { reason: "child_run", childRunId: child },
      },
    ],
    "running",
  );
  const parent = { runId: child, nodeId: "a", iteration: 0 };
  const orphan = await insertRun(
    [{ ...STARTED, payload: { ...STARTED.payload, parent } }, ...QUEUED_AND_DONE("start", 2)],
    "running",
  );
  const told = (await checkInvariants(database.url, [child, waiting, orphan])).join("\n");
  expect(told).toContain(`a node waits for the run ${child}, which has ended`);
  expect(told).toContain(`the run goes on although its parent ${child} has ended`);
});
