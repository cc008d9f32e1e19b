// Commands of the workflow queue on a real trio: enqueued from outside, carried out by the scheduler that takes them.

import { randomUUID } from "node:crypto";
import { createPawlClient, type Json, type PawlClient } from "@pawl/client";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { openPool, type Pool } from "@pawl/platform/db/pool";
import { BossQueue } from "@pawl/platform/queue/boss";
import { BossWorkflowQueue } from "@pawl/platform/queue/boss-workflow-queue";
import { COMMAND_QUEUE } from "@pawl/platform/queue/queue";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { failpoints, replaceScheduler } from "../crash/processes.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";
import { callTests, LATELY, statsTests } from "./command-calls.ts";
import { graph, script } from "./graph.ts";
import { storyOf } from "./story.ts";

/** How often the services of these tests sample their load. */
const STATS_MS = 200;
const RULES = { rules: [{ id: "secret", category: "confidential", literal: "quince" }] };

let cluster: Cluster;
let client: PawlClient;
let metrics: string;
let pool: Pool;
let boss: BossQueue;
let queue: BossWorkflowQueue;

beforeAll(async () => {
  const executor = { PAWL_MODERATION_RULES: JSON.stringify(RULES) };
  // Far longer than a test, so a command is carried out because of a notification, not because of a poll.
  const metricsPort = await freePort();
  const stats = { PAWL_STATS_MS: String(STATS_MS) };
  const scheduler = { ...stats, PAWL_POLL_MS: "60000", PAWL_METRICS_PORT: String(metricsPort) };
  metrics = `http://${LOOPBACK}:${metricsPort}`;
  cluster = await startCluster({ envOf: { executor, scheduler, gateway: stats } });
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  pool = openPool(cluster.databaseUrl, { max: 2, name: "pawl-flow" });
  boss = new BossQueue(cluster.databaseUrl, (error) => console.warn(error));
  await boss.start([]);
  queue = new BossWorkflowQueue({ pool, boss: boss.library });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await boss.stop();
  await pool.end();
  await cluster.stop();
});

/** Waits until the job has this status. */
const stands = (jobId: string, status: string): Promise<unknown> =>
  until(async () => (await queue.getJob(jobId))?.status === status, { what: `job ${status}` });

/** Saves a workflow and gives its id. */
async function save(definition: object): Promise<string> {
  const id = `commanded-${randomUUID()}`;
  await client.workflows.create({ id, title: "Commanded", ...definition });
  return id;
}

/** The runs of a workflow, once there are some. */
const runsOf = (workflowId: string) =>
  until(
    async () => {
      const { runs } = await client.runs.list({ workflowId });
      return runs.length > 0 ? runs : undefined;
    },
    { what: `a run of ${workflowId}` },
  );

test("a start command starts its run with its input, once however often it is given (S0.4, S0.5, S0.18, S0.19, S0.39)", async () => {
  const graphId = await save(
    graph(["start > double > end"], { double: script("return ctx.input.n * 2") }),
  );
  const runId = randomUUID();
  const start = { type: "start", runId, graphId, initialState: { n: 21 } } as const;
  const jobs = [await queue.enqueue(start), await queue.enqueue(start)];
  for (const jobId of jobs) await stands(jobId, "completed");
  const runs = await runsOf(graphId);
  expect(runs).toHaveLength(1);
  const run = await client.runs.wait(runs[0]?.runId ?? "");
  expect(run.status).toBe(RunStatus.COMPLETED);
});

test("a plain job of pg-boss is a start command too, as its own scheduler makes it (S0.3, S0.4)", async () => {
  const graphId = await save(graph(["start > end"]));
  const jobId = await boss.library.send(COMMAND_QUEUE, { type: "start", graph_id: graphId });
  await stands(jobId ?? "", "completed");
  const [run] = await runsOf(graphId);
  expect((await client.runs.wait(run?.runId ?? "")).status).toBe(RunStatus.COMPLETED);
});

test("a resume command carries a person's decision to the run it was started as (S0.15, S0.55)", async () => {
  const gate = { moderation: "output", moderation_action: "hold" };
  const graphId = await save(
    graph(["start > gate > end"], { gate: script(`return "quince"`, gate) }),
  );
  const name = randomUUID();
  await stands(await queue.enqueue({ type: "start", runId: name, graphId }), "completed");
  const [run] = await runsOf(graphId);
  const runId = run?.runId ?? "";
  await until(async () => (await client.runs.get(runId)).run.status === RunStatus.WAITING, {
    what: "the run to wait",
  });
  // It waits without a job and without a claim: no worker polls the approval.
  expect(await queue.getQueueDepth()).toMatchObject({ waiting: 0, active: 0, paused: 0 });
  const humanResponse = { node_id: "gate", decision: "approve", comment: "fine" };
  const jobId = await queue.enqueue({ type: "resume", runId: name, graphId, humanResponse });
  await stands(jobId, "completed");
  expect((await client.runs.wait(runId)).status).toBe(RunStatus.COMPLETED);
});

test("a command that cannot be carried out ends as a dead letter, which /metrics shows (S0.56, S0.57, S0.58)", async () => {
  const jobId = await queue.enqueue({ type: "start", runId: randomUUID(), graphId: "nobodys" });
  await stands(jobId, "dead_letter");
  expect(await queue.getJob(jobId)).toMatchObject({
    attempts: 3,
    error: "There is no workflow nobodys.",
  });
  const text = await (await fetch(`${metrics}/metrics`)).text();
  expect(text).toMatch(/^pawl_commands\{.*status="dead_letter".*\} 1/m);
  expect(text).toMatch(/^pawl_command_backlog(\{.*\})? 0/m);
});

test("a resume command answers an approval with a response that fits its schema; another one changes nothing (S0.4, S0.54, S0.55)", async () => {
  const response_schema = { type: "object", required: ["amount"] };
  const ask = { type: "approval", config: { message: "How much?", response_schema } };
  const graphId = await save(graph(["start > ask > end"], { ask }));
  const { run } = await client.runs.start(graphId);
  const { runId } = run;
  await until(async () => (await client.runs.get(runId)).run.status === RunStatus.WAITING, {
    what: "the run to wait",
  });
  const resume = (response?: Json): Promise<string> => {
    const humanResponse = { node_id: "ask", decision: "approve", decided_by: "ada", response };
    return queue.enqueue({ type: "resume", runId, graphId, humanResponse });
  };
  const { lastEventId } = (await client.runs.get(runId)).run;
  for (const response of [{ sum: 5 }, undefined]) {
    const jobId = await resume(response);
    await stands(jobId, "dead_letter");
    expect((await queue.getJob(jobId))?.error).toContain("response");
  }
  expect((await client.runs.get(runId)).run.lastEventId).toBe(lastEventId);
  await stands(await resume({ amount: 5 }), "completed");
  const story = await storyOf(client, runId);
  expect(story.status).toBe("completed");
  expect(story.outputOf("ask")).toMatchObject({ response: { amount: 5 }, decidedBy: "ada" });
});

const under = {
  get client() {
    return client;
  },
  get metrics() {
    return metrics;
  },
  logs: () => cluster.logs(),
  ...{ stands, save, runsOf },
};
callTests(under);
statsTests(under);

test("a scheduler is killed after a command and before its acknowledgement: another repeats the command, there is one run, and samples continue (S0.2, S0.35, S0.39, S0.41)", async () => {
  const graphId = await save(graph(["start > end"]));
  const { points: before } = await client.queues.stats(LATELY);
  await cluster.schedulers[0]?.kill("SIGKILL");
  const doomed = await replaceScheduler(cluster, {
    ...{ ...failpoints("start.after-commit@1=kill"), PAWL_STATS_MS: String(STATS_MS) },
  });
  const jobId = await queue.enqueue({ type: "start", runId: randomUUID(), graphId });
  expect(await doomed.exited()).toBe("SIGKILL");
  expect(await queue.getJob(jobId)).toMatchObject({ status: "active", claimEpoch: 1 });
  await replaceScheduler(cluster, { PAWL_STATS_MS: String(STATS_MS) });
  await stands(jobId, "completed");
  expect(await queue.getJob(jobId)).toMatchObject({ attempts: 1, claimEpoch: 2 });
  const runs = await runsOf(graphId);
  expect(runs).toHaveLength(1);
  expect((await client.runs.wait(runs[0]?.runId ?? "")).status).toBe(RunStatus.COMPLETED);
  // The history of samples survived, and the next scheduler continues it.
  const oldest = before[0]?.time;
  const newest = before.at(-1)?.time?.seconds ?? 0n;
  await until(
    async () => {
      const { points } = await client.queues.stats(LATELY);
      return (
        points[0]?.time?.seconds === oldest?.seconds &&
        (points.at(-1)?.time?.seconds ?? 0n) > newest
      );
    },
    { what: "a sample of the next scheduler" },
  );
});
