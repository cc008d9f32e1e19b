// Budgets and usage on the real trio: what attempts use counts however they end, a run never starts more than its budget covers, and a run
// that pauses for its budget continues with a top-up.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createPawlClient, type PawlClient } from "@pawl/client";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import type { DailyBudget } from "@pawl/proto/pawl/v1/workflow_pb";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { HANDLERS } from "../handler-kit/programs/sdks.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { graph, type GraphText, names, type NodeText, script } from "./graph.ts";
import { act, serveKit } from "./kit-program.ts";
import { SINK_EGRESS, startSink, type Sink } from "./sink.ts";
import { firstEvent, runGraph, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let address: string;
let sink: Sink;

const PRICES = { "offline/echo": { input: 1, output: 2 }, "kit-model": { input: 10, output: 100 } };

beforeAll(async () => {
  const port = await freePort();
  address = `${LOOPBACK}:${port}`;
  sink = await startSink();
  cluster = await startCluster({
    env: { ...SINK_EGRESS, PAWL_LLM_PRICES: JSON.stringify(PRICES) },
    envOf: { executor: { PAWL_HANDLER_PORT: String(port) } },
  });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await sink.stop();
});

const llm = (model: string, more: NodeText = {}): NodeText => ({
  type: "llm",
  config: { model: `offline/${model}`, prompt: "Tell me a story" },
  ...more,
});

/** Nodes beside each other behind a start. */
const fan = (count: number, node: NodeText, budget: object): GraphText & { budget: object } => ({
  ...graph(
    names("n", count).map((id) => `start > ${id}`),
    Object.fromEntries(names("n", count).map((id) => [id, node])),
  ),
  budget,
});

const json = (definition: object): string => JSON.stringify(definition);

test.for(Object.entries(HANDLERS))(
  "what a handler in %s reports counts with its price, also if it fails (S2.20, S2.22)",
  { timeout: 90_000 },
  async ([, find], context) => {
    const { leave } = await serveKit({ client, address }, find, context);
    const story = await runGraph(
      client,
      graph(["start > good > bad"], { good: act(["spend"]), bad: act(["spend", "not_json"]) }),
    );
    // 3 tokens at 10 and 4 at 100 micro-dollars, and 7 that the handler knows itself.
    const usage = { inputTokens: 4, outputTokens: 4, costMicros: 437, model: "kit-model" };
    expect(story.of("node.completed", "good")[0]?.payload).toMatchObject({ usage });
    expect(story.of("node.failed", "bad")[0]?.payload).toMatchObject({
      cause: "action_invalid",
      usage,
    });
    expect(story.run.usage).toMatchObject({
      ...{ inputTokens: 8n, outputTokens: 8n, costMicros: 874n, nodeExecutions: 2n },
    });
    await leave();
  },
);

test("the usage of a model counts with its price, and of a failing model too (S2.20, S2.22)", async () => {
  const definition = {
    ...graph(["start > a > b"], {
      a: llm("echo"),
      b: llm("fail?after=5", { retry: { attempts: 2, backoff_ms: 1 } }),
    }),
    budget: { cost_usd: 1 },
  };
  const story = await runGraph(client, definition);
  const reserved = { costMicros: expect.any(Number) as number };
  expect(story.of("node.queued", "a")[0]?.payload).toMatchObject({ reserved });
  const [{ payload } = { payload: {} }] = story.of("node.completed", "a");
  const { usage } = payload as { usage: { inputTokens: number; outputTokens: number } };
  const cost = usage.inputTokens + 2 * usage.outputTokens;
  expect(payload).toMatchObject({ usage: { model: "offline/echo", costMicros: cost } });
  expect(story.of("node.retried", "b")[0]?.payload).toMatchObject({ usage: { outputTokens: 5 } });
  expect(story.of("node.failed", "b")[0]?.payload).toMatchObject({ usage: { outputTokens: 5 } });
  expect(Number(story.run.usage?.outputTokens)).toBe(usage.outputTokens + 10);
  expect(Number(story.run.usage?.costMicros)).toBe(cost);
});

test("50 parallel nodes and a budget of 10: 10 start, and the run fails by name (S2.21, X27)", async () => {
  const { run } = await client.runs.test(
    json(fan(50, script("return 1"), { node_executions: 10 })),
  );
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("failed");
  expect(story.of("node.started")).toHaveLength(10);
  expect(story.of("run.failed")[0]?.payload).toMatchObject({ cause: "budget_exceeded" });
  expect(await checkInvariants(cluster.databaseUrl, [run.runId])).toEqual([]);
});

test("a caller lowers the budget of a definition and cannot raise it (S2.21)", async () => {
  const definition = json(fan(3, script("return 1"), { node_executions: 2 }));
  const starts = async (nodeExecutions: number): Promise<number> => {
    const { run } = await client.runs.test(definition, { budget: { nodeExecutions } });
    return (await storyOf(client, run.runId)).of("node.started").length;
  };
  expect(await Promise.all([starts(1), starts(3)])).toEqual([1, 2]);
});

/** A top-up as JSON that no client would send. */
const rawTopUp = (runId: string, amount: string): Promise<Response> =>
  fetch(`${cluster.url}/pawl.v1.RunService/TopUpRun`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: `{"runId":"${runId}","requestId":"raw","amounts":{"nodeExecutions":${amount}}}`,
  });

test("a run pauses for its budget and continues with a top-up, which counts once (S2.21, S2.23)", async () => {
  const budget = { node_executions: 1, on_exceeded: "pause" };
  const { run } = await client.runs.test(json(fan(2, script("return 1"), budget)));
  const { runId } = run;
  const paused = await firstEvent(
    client,
    runId,
    ({ payload }) => (payload as { to?: string }).to === "paused",
  );
  expect(paused.payload).toMatchObject({ waitingFor: "budget" });
  const before = await client.runs.get(runId);
  expect(before.run.pause).toMatchObject({ waitingFor: "budget", by: "pawl" });
  expect(before.run.pause?.reason).toContain("has 0 node executions left");
  await expect(client.runs.topUp(runId, { tokens: 5 })).rejects.toMatchObject({
    reason: "BUDGET_NOT_LIMITED",
  });
  const { lastEventId } = before.run;
  for (const tokens of ["-1", '"NaN"', "1e400", "1.5", "0"])
    expect((await rawTopUp(runId, tokens)).status, tokens).toBe(400);
  expect((await client.runs.get(runId)).run.lastEventId).toBe(lastEventId);
  const request = { requestId: "one", by: "ada" };
  await client.runs.topUp(runId, { nodeExecutions: 1 }, request);
  await client.runs.topUp(runId, { nodeExecutions: 1 }, request);
  await expect(client.runs.topUp(runId, { nodeExecutions: 2 }, request)).rejects.toMatchObject({
    reason: "REQUEST_ID_REUSED",
  });
  const story = await storyOf(client, runId);
  expect(story.status).toBe("completed");
  expect(story.run.budget).toMatchObject({ nodeExecutions: 2n });
  expect(story.of("run.budget.raised")).toHaveLength(1);
  await expect(client.runs.topUp(runId, { nodeExecutions: 1 })).rejects.toMatchObject({
    reason: "RUN_ALREADY_FINISHED",
  });
  expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
});

test("a node that waits for a budget says how much is missing, and which nodes hold it (X27)", async () => {
  const held: NodeText = { type: "http", config: { url: sink.url("hold"), method: "POST" } };
  const definition = {
    ...graph(["start > a", "start > b"], {
      a: { ...held, reserve: { tokens: 6 } },
      b: { ...script("return 1"), reserve: { tokens: 5 } },
    }),
    budget: { tokens: 10 },
  };
  const { run } = await client.runs.test(json(definition));
  const call = await sink.received("hold");
  const told = await client.runs.explain(run.runId, "b");
  expect(told.summary).toBe("The budget of the run is short by 1 token; reserved by a.");
  const live = await client.runs.get(run.runId);
  expect(live.run.usage?.reserved).toMatchObject({ tokens: 6n, nodeExecutions: 1n });
  call.answer(200);
  expect((await storyOf(client, run.runId)).status).toBe("completed");
});

test("a child run gets its part of the budget, and what it used counts for its parent (S2.20, X27)", async () => {
  const child = { id: "spender", ...graph(["a > b > c"]) };
  await client.workflows.apply(json(child));
  const parent = (executions: number) => ({
    ...graph(["start > call > end"], {
      call: { type: "subworkflow", config: { workflow_id: "spender" } },
    }),
    budget: { node_executions: executions },
  });
  const run = async (executions: number) => {
    const started = await client.runs.test(json(parent(executions)));
    return await storyOf(client, started.run.runId);
  };
  const [enough, short] = await Promise.all([run(4), run(3)]);
  expect(enough.status).toBe("completed");
  expect(enough.run.usage).toMatchObject({ nodeExecutions: 4n });
  expect(short.status).toBe("failed");
  expect(short.of("node.failed", "call")[0]?.payload).toMatchObject({ cause: "child_failed" });
  expect(short.run.usage).toMatchObject({ nodeExecutions: 3n });
});

const DAY_ROW = `
select (tokens_reserved + cost_reserved + executions_reserved)::text as reserved, executions_spent::text as spent
from pawl.day_budgets where workflow_id = $1`;

async function dayOf(workflowId: string): Promise<unknown> {
  const db = new Client({ connectionString: cluster.databaseUrl });
  await db.connect();
  try {
    return (await db.query<{ readonly reserved: string }>(DAY_ROW, [workflowId])).rows[0];
  } finally {
    await db.end();
  }
}

test("runs of a workflow share its budget of a day: parallel runs wait for room, and the one that never fits fails (S2.21, X27)", async () => {
  const budget = { node_executions: 2, per_day: { node_executions: 3 } };
  const work: NodeText = { type: "http", config: { url: sink.url("hold-day"), method: "POST" } };
  const definition = { id: "by-day", ...graph(["start > a"], { a: work }), budget };
  await client.workflows.apply(json(definition));
  const first = await client.runs.start("by-day");
  const call = await sink.received("hold-day");
  const second = await client.runs.start("by-day");
  await firstEvent(client, second.run.runId, ({ type }) => type === "run.started");
  expect((await client.runs.get(second.run.runId)).run.status).toBe(RunStatus.PENDING);
  const told = await client.runs.explain(second.run.runId, "a");
  expect(told.summary).toContain("daily budget");
  call.answer(200);
  expect((await storyOf(client, first.run.runId)).status).toBe("completed");
  (await sink.received("hold-day", 2)).answer(200);
  const after = await storyOf(client, second.run.runId);
  expect(after.status).toBe("completed");
  expect(after.of("run.status.changed")[0]?.payload).toMatchObject({
    ...{ budgetDay: expect.any(String) as string, budgetReserved: { nodeExecutions: 2 } },
  });
  const third = await storyOf(client, (await client.runs.start("by-day")).run.runId);
  expect(third.status).toBe("failed");
  expect(third.of("run.failed")[0]?.payload).toMatchObject({ cause: "budget_exceeded" });
  expect(third.of("node.started")).toEqual([]);
  expect(await dayOf("by-day")).toEqual({ reserved: "0", spent: "2" });
  const listed = await client.workflows.dailyBudgets({ workflowId: "by-day" });
  const isUsed = ({ used }: DailyBudget) => (used?.nodeExecutions ?? 0n) > 0n;
  const today = listed.dailyBudgets.find(isUsed) ?? expect.unreachable();
  expect(today).toMatchObject({ workflowId: "by-day", limit: { nodeExecutions: 3n } });
  expect([today.reserved?.nodeExecutions, today.used?.nodeExecutions]).toEqual([0n, 2n]);
  const resetsAt = today.resetTime && timestampDate(today.resetTime).getTime();
  expect(resetsAt).toBe(Date.parse(today.day) + 24 * 3_600_000);
  const all = [first, second].map(({ run }) => run.runId);
  expect(await checkInvariants(cluster.databaseUrl, all)).toEqual([]);
});

test("days are listed by page, the newest first; a workflow lists its day before its first run, and none without a daily budget (S2.21)", async () => {
  const perDay = { tokens: 9, per_day: { tokens: 90 } };
  const saved = ["page-a", "page-b", "page-c"];
  for (const id of saved)
    await client.workflows.apply(json({ id, ...graph(["start"], {}), budget: perDay }));
  await client.workflows.apply(json({ id: "page-free", ...graph(["start"], {}) }));
  const untouched = await client.workflows.dailyBudgets({ workflowId: "page-a" });
  expect(untouched.dailyBudgets).toMatchObject([{ limit: { tokens: 90n }, used: { tokens: 0n } }]);
  expect((await client.workflows.dailyBudgets({ workflowId: "page-free" })).dailyBudgets).toEqual(
    [],
  );
  for (const id of saved) await storyOf(client, (await client.runs.start(id)).run.runId);
  const seen: string[] = [];
  let pageToken = "";
  do {
    const page = await client.workflows.dailyBudgets({ pageSize: 1, pageToken });
    seen.push(...page.dailyBudgets.map(({ workflowId }) => workflowId));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(seen.filter((id) => saved.includes(id))).toEqual(saved);
  await expect(client.workflows.dailyBudgets({ workflowId: "absent" })).rejects.toMatchObject({
    reason: "WORKFLOW_NOT_FOUND",
  });
  await expect(client.workflows.dailyBudgets({ pageToken: "forged" })).rejects.toMatchObject({
    reason: "INPUT_INVALID",
  });
});

test.each(["-1", '"NaN"', "1e400", '"many"', "1.5", "2000000000000000"])(
  "a budget of %s in a request is refused, and no run starts (S2.21)",
  async (tokens) => {
    const definition = { text: json(graph(["a"], { a: script("return 1") })) };
    const body = `{"definition":${json(definition)},"budget":{"tokens":${tokens}}}`;
    const response = await fetch(`${cluster.url}/pawl.v1.RunService/TestRun`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "invalid_argument" });
  },
);
