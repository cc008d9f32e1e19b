// A process dies in the middle of a child run or a map. The child starts once, its parent gets its end, and every item is done once.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { call, graph } from "../flow/graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "../flow/sink.ts";
import { storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { startExecutor } from "./processes.ts";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({
    executors: 0,
    env: SINK_EGRESS,
    envOf: { scheduler: { PAWL_GRACE_MS: "500" } },
  });
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await sink.stop();
});

test("an executor killed while a child run runs costs the child a delivery and its parent nothing (S3.30, S0.35)", async () => {
  const doomed = await startExecutor(cluster);
  await client.workflows.create(
    graph(["start > work > end"], { work: call(sink.url("hold-child")) }),
    { workflowId: "child" },
  );
  const nested = { type: "subworkflow", config: { workflow_id: "child" } };
  const { run } = await client.runs.test(graph(["start > nested > after"], { nested }));
  await sink.received("hold-child");
  await doomed.kill("SIGKILL");
  await startExecutor(cluster);
  (await sink.received("hold-child", 2)).answer(200);
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  expect(story.of("run.recovered")).toEqual([]);
  for (const type of ["node.started", "node.blocked", "node.completed"])
    expect(story.of(type, "nested"), type).toHaveLength(1);
  const { runs } = await client.runs.list({ workflowId: "child" });
  expect(runs.map(({ parentRunId }) => parentRunId)).toEqual([run.runId]);
  const child = await storyOf(client, runs[0]?.runId ?? "");
  expect(child.status).toBe("completed");
  expect(child.of("run.recovered").map(({ nodeId }) => nodeId)).toEqual(["work"]);
  expect(child.of("node.completed", "work")).toHaveLength(1);
});

test("a scheduler killed in the middle of a map of sixty finds its place again: every item is done once (S3.30, S0.36, S0.39)", async () => {
  await startExecutor(cluster);
  const url = `${sink.url("item")}-{{index}}`;
  const more = { method: "POST", idempotency_key_header: "Idempotency-Key" };
  const body = { type: "http", config: { url, ...more } };
  const held = { type: "http", config: { url: `${sink.url("hold")}-{{index}}`, ...more } };
  const items = Array.from({ length: 60 }, (_, index) => index);
  const { run } = await client.runs.test(
    graph(["start > each > after", "start > slow > after"], {
      each: { type: "map", config: { items, body, parallelism: 5 } },
      slow: { type: "map", config: { items: [0, 1], body: held, parallelism: 2 } },
    }),
  );
  const waiting = await Promise.all([0, 1].map((index) => sink.received(`hold-${index}`)));
  await sink.received("item-20");
  await cluster.schedulers[0]?.restart();
  // They were under way all the while, and their executor lives.
  for (const each of waiting) each.answer(200);
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  for (const [nodeId, count] of [
    ["each", 60],
    ["slow", 2],
  ] as const) {
    const done = story.of("node.completed", nodeId).map(({ iteration }) => iteration);
    expect(done.toSorted((a, b) => a - b)).toEqual([...Array(count + 1).keys()]);
  }
  // Only assignments on their way when the scheduler died are given again. No executor had them, so they had no effect.
  for (const { payload } of story.of("run.recovered"))
    expect(payload).toMatchObject({ reason: "not_held" });
  const effects = sink.calls.filter(({ name }) => /^(item|hold)-\d/.test(name));
  const keys = effects.map(({ idempotencyKey }) => idempotencyKey);
  expect([keys.length, new Set(keys).size]).toEqual([62, 62]);
});

test("the logs keep their invariants after every kill (S3.2)", async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});
