import { randomUUID } from "node:crypto";
import { definitionId, type RunId, runId } from "@pawl/core/name/ids";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../support/postgres.ts";
import { migrate } from "@pawl/platform/db/migrate";
import { openPool, type Pool } from "@pawl/platform/db/pool";
import { getDefinition, getWorkflow, listWorkflows } from "@pawl/platform/store/workflows/reads";
import { readEvents, readEventsOfMany } from "@pawl/platform/store/log/reads";
import { workflowWords } from "@pawl/platform/store/runs/search";
import { getRun, listRuns } from "@pawl/platform/store/runs/reads";

const TENANT = "t";

async function setup(): Promise<Pool> {
  const database = await freshDatabase();
  const pool = openPool(database.url, { max: 2, name: "test" });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  return pool;
}

const id = (n: number): RunId => runId(`0198c0de-0000-7000-8000-${String(n).padStart(12, "0")}`);

async function addRun(
  pool: Pool,
  n: number,
  row: { status?: string; workflow?: string | null } = {},
) {
  await pool.query({
    text: `insert into runs (run_id, tenant_id, definition_id, workflow_id, workflow_version, kind, status, version, last_seq, deadline_at)
      values ($1, $2, $3, $4, 1, $5, $6, 1, 3, now())`,
    values: [
      id(n),
      TENANT,
      randomUUID(),
      row.workflow === undefined ? "w" : row.workflow,
      row.workflow === null ? "test" : "saved",
      row.status ?? "running",
    ],
  });
  return id(n);
}

async function addEvents(pool: Pool, run: RunId, count: number, value: string | null = null) {
  await pool.query({
    text: `insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload, value)
      select $1, n, 'node.completed', 'a', 0, n, n, 0, '{"durationMs": 1}', $3::jsonb from generate_series(1, $2::int) n`,
    values: [run, count, value],
  });
}

test("a page of a log begins after the cursor and says whether there is more", async () => {
  const pool = await setup();
  await addEvents(pool, id(1), 5, '{"b": 1, "a": 12345678901234567890}');
  const first = await readEvents(pool, id(1), 0, 3);
  expect(first.events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(first.hasMore).toBe(true);
  expect(first.events[0]).toMatchObject({
    runId: id(1),
    nodeId: "a",
    epoch: 1,
    payload: { durationMs: 1 },
  });
  expect(first.events[0]?.value).toBe('{"a": 12345678901234567890, "b": 1}');
  const rest = await readEvents(pool, id(1), 3, 3);
  expect(rest.events.map(({ seq }) => seq)).toEqual([4, 5]);
  expect(rest.hasMore).toBe(false);
  expect((await readEvents(pool, id(2), 0, 3)).events).toEqual([]);
});

test("one statement reads many logs, each after its own cursor, also one log twice", async () => {
  const pool = await setup();
  await addEvents(pool, id(1), 4);
  await addEvents(pool, id(2), 2);
  const pages = await readEventsOfMany(
    pool,
    [
      { runId: id(2), afterSeq: 1 },
      { runId: id(3), afterSeq: 0 },
      { runId: id(1), afterSeq: 2 },
      { runId: id(1), afterSeq: 0 },
    ],
    3,
  );
  expect(pages.map((page) => page.events.map(({ seq }) => seq))).toEqual([
    [2],
    [],
    [3, 4],
    [1, 2, 3],
  ]);
  expect(pages.map((page) => page.hasMore)).toEqual([false, false, false, true]);
});

test("large values cut a page short without a gap", async () => {
  const pool = await setup();
  const large = JSON.stringify("x".repeat(250_000));
  await addEvents(pool, id(1), 40, large);
  await addEvents(pool, id(2), 40, large);
  const page = await readEvents(pool, id(1), 0, 100);
  expect(page.hasMore).toBe(true);
  expect(page.events.length).toBeLessThan(12);
  const cursors = [id(1), id(2)].map((run) => ({ runId: run, afterSeq: 0 }));
  const pages = await readEventsOfMany(pool, cursors, 100);
  expect(pages.map(({ hasMore }) => hasMore)).toEqual([true, true]);
  const seqs = pages.map(({ events }) => events.map(({ seq }) => seq));
  expect(seqs[0]).toEqual(seqs[0]?.map((_, index) => index + 1));
  expect((seqs[0]?.length ?? 0) + (seqs[1]?.length ?? 0)).toBeLessThan(40);
});

test("runs are listed newest first, page by page, and a token is bound to its filter (C7)", async () => {
  const pool = await setup();
  for (let n = 1; n <= 5; n++) await addRun(pool, n, { status: n % 2 ? "failed" : "running" });
  await addRun(pool, 6, { workflow: null });
  const all = { statuses: [], workflowId: "", kind: undefined } as const;
  const first = await listRuns(pool, TENANT, all, { size: 4, token: "" });
  expect(first.rows.map((run) => run.runId)).toEqual([6, 5, 4, 3].map(id));
  const second = await listRuns(pool, TENANT, all, { size: 4, token: first.nextPageToken });
  expect(second.rows.map((run) => run.runId)).toEqual([2, 1].map(id));
  expect(second.nextPageToken).toBe("");
  const failed = { ...all, statuses: ["failed"], workflowId: "w" } as const;
  const some = await listRuns(pool, TENANT, failed, { size: 2, token: "" });
  expect(some.rows.map((run) => run.runId)).toEqual([5, 3].map(id));
  expect(
    (await listRuns(pool, TENANT, { ...all, kind: "test" }, { size: 9, token: "" })).rows,
  ).toHaveLength(1);
  expect((await listRuns(pool, "other", all, { size: 9, token: "" })).rows).toEqual([]);
  for (const token of [first.nextPageToken, "garbage", `${some.nextPageToken}AA`, "=="]) {
    await expect(listRuns(pool, TENANT, failed, { size: 2, token })).rejects.toMatchObject({
      reason: "INPUT_INVALID",
      violations: [{ field: "page_token", reason: "BAD_PAGE_TOKEN" }],
    });
  }
});

test("a search finds runs by the beginning of workflow id, title word and run id, and by short id", async () => {
  const pool = await setup();
  const title = (workflow: string, text: string): Promise<unknown> =>
    pool.query({
      text: `insert into workflow_words (tenant_id, workflow_id, word) select $1, $2, unnest($3::text[])`,
      values: [TENANT, workflow, workflowWords(workflow, text)],
    });
  await title("Refund-x", "Pay a claim back");
  await title("close-tills", "Close two hundred tills");
  await title("other", "Sweep");
  for (const [n, workflow] of [
    [1, "Refund-x"],
    [2, "close-tills"],
    [3, "other"],
    [4, null],
    [5, "Refund-x"],
  ] as const)
    await addRun(pool, n, { workflow, status: n === 1 ? "failed" : "running" });
  const found = async (search: string, more: object = {}): Promise<RunId[]> => {
    const filter = { statuses: [], workflowId: "", kind: undefined, search, ...more } as const;
    const { rows: runs } = await listRuns(pool, TENANT, filter, { size: 9, token: "" });
    return runs.map(({ runId: each }) => each);
  };
  expect(await found("refund")).toEqual([5, 1].map(id));
  expect(await found("REFUND-X")).toEqual([5, 1].map(id));
  expect(await found("efund")).toEqual([]);
  expect(await found("hund till")).toEqual([id(2)]);
  expect(await found("hund claim")).toEqual([]);
  expect(await found("claim")).toEqual([5, 1].map(id));
  expect(await found("%")).toEqual([]);
  expect(await found("' & :* \\")).toEqual([]);
  expect(await found(id(4))).toEqual([id(4)]);
  expect(await found("0198c0de")).toEqual([5, 4, 3, 2, 1].map(id));
  expect(await found("00000004")).toEqual([id(4)]);
  expect(await found("00000003")).toEqual([id(3)]);
  expect(await found("refund", { statuses: ["failed"] })).toEqual([id(1)]);
  expect(await found("0198", { kind: "test" })).toEqual([id(4)]);
  expect(await found("0198", { workflowId: "other" })).toEqual([id(3)]);
});

test("workflows saved before there was a search are found after the upgrade", async () => {
  const database = await freshDatabase();
  const pool = openPool(database.url, { max: 2, name: "test" });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  await pool.query({ text: "drop table workflow_words" });
  await pool.query({ text: "drop index runs_by_short_id" });
  await pool.query({ text: "delete from migrations where name = '0012_search_runs.sql'" });
  await pool.query({
    text: `insert into definitions (definition_id, tenant_id, workflow_id, version, digest, title, node_count, body)
      select gen_random_uuid(), $1, 'close-tills', n, 'd', 'Close two hundred tills', 1, '{}' from generate_series(1, 2) n`,
    values: [TENANT],
  });
  await addRun(pool, 1, { workflow: "close-tills" });
  expect(await migrate(database.url)).toEqual(["0012_search_runs.sql"]);
  for (const search of ["close-t", "hundred"]) {
    const filter = { statuses: [], workflowId: "", kind: undefined, search } as const;
    const { rows: runs } = await listRuns(pool, TENANT, filter, { size: 9, token: "" });
    expect(runs.map((run) => run.runId)).toEqual([id(1)]);
  }
});

test("the results of a search come page by page, and a page token is bound to its search text", async () => {
  const pool = await setup();
  for (let n = 1; n <= 5; n++) await addRun(pool, n);
  const filter = { statuses: [], workflowId: "", kind: undefined, search: "0198" } as const;
  const first = await listRuns(pool, TENANT, filter, { size: 3, token: "" });
  expect(first.rows.map((run) => run.runId)).toEqual([5, 4, 3].map(id));
  const page = { size: 3, token: first.nextPageToken };
  const second = await listRuns(pool, TENANT, filter, page);
  expect(second.rows.map((run) => run.runId)).toEqual([2, 1].map(id));
  expect(second.nextPageToken).toBe("");
  await expect(listRuns(pool, TENANT, { ...filter, search: "019" }, page)).rejects.toMatchObject({
    violations: [{ field: "page_token", reason: "BAD_PAGE_TOKEN" }],
  });
});

test("a run is read with numbers as numbers and times as milliseconds", async () => {
  const pool = await setup();
  await addRun(pool, 1);
  expect(await getRun(pool, TENANT, id(1))).toMatchObject({
    runId: id(1),
    workflowId: "w",
    lastSeq: 3,
    endedAt: null,
    createdAt: expect.any(Number),
  });
  expect(await getRun(pool, TENANT, id(9))).toBeUndefined();
  expect(await getRun(pool, "other", id(1))).toBeUndefined();
});

test("a workflow is read at its newest version or an older one, and a deleted one not at all", async () => {
  const pool = await setup();
  const ids = [randomUUID(), randomUUID()];
  for (const [index, definition] of ids.entries()) {
    await pool.query({
      text: `insert into definitions (definition_id, tenant_id, workflow_id, version, digest, title, node_count, body)
        values ($1, $2, 'w', $3, 'd', 'W', 1, $4)`,
      values: [definition, TENANT, index + 1, `{"v":${index + 1}}`],
    });
  }
  await pool.query({
    text: "insert into workflows (tenant_id, workflow_id, version, definition_id) values ($1, 'w', 2, $2)",
    values: [TENANT, ids[1]],
  });
  expect(await getWorkflow(pool, TENANT, "w", 0)).toMatchObject({ version: 2, body: '{"v":2}' });
  expect(await getWorkflow(pool, TENANT, "w", 1)).toMatchObject({ version: 1, body: '{"v":1}' });
  expect(await getWorkflow(pool, TENANT, "w", 3)).toBeUndefined();
  const page = await listWorkflows(pool, TENANT, { size: 1, token: "" });
  expect(page).toMatchObject({
    rows: [{ workflowId: "w", body: null }],
    nextPageToken: "",
  });
  await pool.query({ text: "delete from workflows" });
  expect(await getWorkflow(pool, TENANT, "w", 1)).toBeUndefined();
  expect(await getDefinition(pool, definitionId(ids[0] ?? ""))).toMatchObject({ body: '{"v":1}' });
});

test("a database that is away is STORE_UNAVAILABLE", async () => {
  const pool = openPool("postgres://nobody:x@127.0.0.1:1/none", { max: 1, name: "test" });
  await expect(getRun(pool, TENANT, id(1))).rejects.toMatchObject({
    reason: "STORE_UNAVAILABLE",
    retryAfterMs: expect.any(Number),
  });
  await pool.end();
});
