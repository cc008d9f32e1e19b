// Fifty parallel nodes and a budget of ten, while executors and schedulers are killed. Each start is a call to a receiver, and the receiver
// counts: a killed process must not make the run start more than its budget covers.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { graph, names } from "../flow/graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "../flow/sink.ts";
import { storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { failpoints, replaceScheduler, startExecutor } from "./processes.ts";

const BUDGET = 10;
const DOLLAR = 1_000_000n;

/** Ten tokens cost a dollar. */
const MODEL = "offline/lorem?tokens=10";
const PRICED = {
  PAWL_LLM_PRICES: JSON.stringify({ [MODEL]: { input: 0, output: 100_000 } }),
};

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({
    env: SINK_EGRESS,
    envOf: { scheduler: { PAWL_GRACE_MS: "200" } },
  });
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await sink.stop();
});

/** Fifty calls beside each other. */
function fan(name: string): string {
  const ids = names("n", 50);
  const node = {
    type: "http",
    retry: { attempts: 3, backoff_ms: 1 },
    config: { url: sink.url(name), method: "POST" },
  };
  const paths = ids.map((id) => `start > ${id}`);
  const text = graph(paths, Object.fromEntries(ids.map((id) => [id, node])));
  return JSON.stringify({ ...text, budget: { node_executions: BUDGET } });
}

/** Fifty calls of a model beside each other, each for a dollar. */
function paidFan(): string {
  const ids = names("n", 50);
  const node = {
    type: "llm",
    reserve: { cost_usd: 1 },
    retry: { attempts: 3, backoff_ms: 1 },
    config: { model: MODEL, prompt: "Go on" },
  };
  const paths = ids.map((id) => `start > ${id}`);
  const text = graph(paths, Object.fromEntries(ids.map((id) => [id, node])));
  return JSON.stringify({ ...text, budget: { cost_usd: BUDGET } });
}

async function checkPaid(runId: string): Promise<void> {
  const story = await storyOf(client, runId);
  expect(story.status).toBe("failed");
  expect(story.of("run.failed")[0]?.payload).toMatchObject({ cause: "budget_exceeded" });
  // The start node completes too.
  expect(story.of("node.completed").length).toBeLessThanOrEqual(BUDGET + 1);
  const { costMicros = 0n, assumed } = story.run.usage ?? {};
  expect(costMicros + (assumed?.costMicros ?? 0n)).toBe(BigInt(BUDGET) * DOLLAR);
  expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
}

async function checkRun(name: string, runId: string): Promise<void> {
  const story = await storyOf(client, runId);
  expect(story.status).toBe("failed");
  expect(story.of("run.failed")[0]?.payload).toMatchObject({ cause: "budget_exceeded" });
  expect(story.of("node.started").length).toBeLessThanOrEqual(BUDGET);
  expect(sink.calls.filter((call) => call.name === name).length).toBeLessThanOrEqual(BUDGET);
  expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
}

test("executors killed before, in and after their handlers never let more than 10 of 50 nodes start (S2.21, X27)", async () => {
  for (const member of cluster.executors) await member.stop();
  const points = ["handler.before-run@3", "handler.after-run@4", "outcome.sent@2"];
  for (const [at, point] of points.entries()) {
    const doomed = await startExecutor(cluster, failpoints(`${point}=kill`));
    const { run } = await client.runs.test(fan(`executor-${at}`));
    expect(await doomed.exited(), point).toBe("SIGKILL");
    const whole = await startExecutor(cluster);
    await checkRun(`executor-${at}`, run.runId);
    await whole.stop();
  }
});

test("executors killed while 50 parallel nodes cost a dollar each never let a run pass ten dollars (S2.21, X27)", async () => {
  const points = ["handler.before-run@3", "outcome.sent@2"];
  for (const point of points) {
    const doomed = await startExecutor(cluster, { ...failpoints(`${point}=kill`), ...PRICED });
    const { run } = await client.runs.test(paidFan());
    expect(await doomed.exited(), point).toBe("SIGKILL");
    const whole = await startExecutor(cluster, PRICED);
    await checkPaid(run.runId);
    await whole.stop();
  }
});

test("schedulers killed before and after their commits never let more than 10 of 50 nodes start (S2.21, X27)", async () => {
  await startExecutor(cluster);
  await cluster.schedulers[0]?.kill("SIGKILL");
  const points = ["tick.before-commit@3", "tick.after-commit@2", "tick.before-reply@3"];
  const accepted: Promise<string>[] = [];
  for (const [at, point] of points.entries()) {
    const doomed = await replaceScheduler(cluster, failpoints(`${point}=kill`));
    accepted.push(client.runs.test(fan(`scheduler-${at}`)).then(({ run }) => run.runId));
    expect(await doomed.exited(), point).toBe("SIGKILL");
  }
  await replaceScheduler(cluster);
  for (const [at, runId] of (await Promise.all(accepted)).entries())
    await checkRun(`scheduler-${at}`, runId);
});

/** What the day has reserved and spent, as its row says. */
async function dayOf(workflowId: string): Promise<unknown> {
  const db = new Client({ connectionString: cluster.databaseUrl });
  await db.connect();
  const sql = `select executions_reserved::integer as reserved, executions_spent::integer as spent
    from pawl.day_budgets where workflow_id = $1`;
  const { rows } = await db.query<{ readonly reserved: number }>(sql, [workflowId]);
  await db.end();
  return rows[0];
}

test("schedulers killed while runs begin and end never let a workflow start more than its day covers, and settle each run once (S2.21, X27)", async () => {
  const work = { type: "http", config: { url: sink.url("day"), method: "POST" } };
  const budget = { node_executions: 2, per_day: { node_executions: 7 } };
  const definition = { id: "by-day", ...graph(["start > a"], { a: work }), budget };
  await startExecutor(cluster);
  // The tests above have ended their schedulers.
  const first = await replaceScheduler(cluster);
  await client.workflows.apply(JSON.stringify(definition));
  await first.kill("SIGKILL");
  const accepted: Promise<string>[] = [];
  for (const point of [
    "tick.before-commit@2",
    "tick.after-commit@2",
    "tick.before-commit-of-end@1",
  ]) {
    const doomed = await replaceScheduler(cluster, failpoints(`${point}=kill`));
    for (let run = 0; run < 3; run++)
      accepted.push(client.runs.start("by-day").then(({ run: { runId } }) => runId));
    expect(await doomed.exited(), point).toBe("SIGKILL");
  }
  await replaceScheduler(cluster);
  const stories = await Promise.all(
    (await Promise.all(accepted)).map((runId) => storyOf(client, runId)),
  );
  const spent = stories.reduce((sum, { run }) => sum + Number(run.usage?.nodeExecutions ?? 0), 0);
  expect(stories.flatMap((story) => story.of("node.started")).length).toBeLessThanOrEqual(7);
  expect(stories.some(({ status }) => status === "completed")).toBe(true);
  expect(await dayOf("by-day")).toEqual({ reserved: 0, spent });
  const runIds = stories.map(({ run: { runId } }) => runId);
  expect(await checkInvariants(cluster.databaseUrl, runIds)).toEqual([]);
});
