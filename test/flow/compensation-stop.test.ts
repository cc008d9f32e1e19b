// Compensations that are stopped on the real trio: by their own deadline, by a second cancel, with their child runs, and by a deletion.
import { randomUUID } from "node:crypto";
import { createPawlClient, type PawlClient, runStatusName } from "@pawl/client";
import { undoOf } from "@pawl/core/log/undo-iteration";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Cluster } from "../support/cluster.ts";
import { sharedCluster } from "../support/shared-cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { broken, call, graph, type NodeText } from "./graph.ts";
import { effectOn, undosOf } from "./saga.ts";
import { startSink, type Sink } from "./sink.ts";
import { firstEvent, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await sharedCluster();
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  await cluster.stop();
  await sink.stop();
});

const effect = (name: string, undo?: string): NodeText => effectOn(sink)(name, undo);
const statusOf = async (runId: string): Promise<string> =>
  runStatusName((await client.runs.get(runId)).run.status);

test("a compensation that takes longer than its own time stops, and leaves dead letters (S2.16)", async () => {
  const tag = randomUUID();
  const workflowId = `slow-${tag}`;
  await client.workflows.create({
    ...{ id: workflowId, title: "Slow", compensation_timeout_ms: 1_500 },
    ...graph(["start > a > b > fail"], {
      a: effect(`a-${tag}`),
      b: effect(`b-${tag}`, `hold-b-${tag}`),
      fail: broken(),
    }),
  });
  const { run } = await client.runs.start(workflowId, { input: { order: 1 } });
  const undoing = await sink.received(`hold-b-${tag}`);
  await undoing.hungUp;
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("failed");
  expect(undosOf(story)).toEqual({ "a#0": "cancelled", "b#0": "cancelled" });
  expect(story.run.compensation).toMatchObject({ undone: 0, left: 2, open: 0 });
  const { deadLetters } = await client.deadLetters.list({ workflowId });
  expect(deadLetters.map(({ nodeId, iteration }) => `${nodeId} ${iteration}`).toSorted()).toEqual([
    `a ${undoOf(0)}`,
    `b ${undoOf(0)}`,
  ]);
  expect(sink.calls.some(({ name }) => name === `undo-a-${tag}`)).toBe(false);
});

test("a second cancel of the parent stops the compensation of its child too (S2.16)", async () => {
  const tag = randomUUID();
  const child = `child-${tag}`;
  await client.workflows.create({
    ...{ id: child, title: "Child" },
    ...graph(["start > inner > wait"], {
      inner: effect(`inner-${tag}`, `hold-undo-${tag}`),
      wait: call(sink.url(`hold-wait-${tag}`)),
    }),
  });
  const { run } = await client.runs.test(
    graph(["start > sub"], {
      sub: { type: "subworkflow", config: { workflow_id: child, input: { order: 1 } } },
    }),
  );
  await sink.received(`hold-wait-${tag}`);
  await client.runs.cancel(run.runId);
  await sink.received(`hold-undo-${tag}`);
  const [inner] = (await client.runs.list({ workflowId: child })).runs;
  expect(await statusOf(inner?.runId ?? "")).toBe("compensating");
  expect(await statusOf(run.runId)).toBe("compensating");
  await client.runs.cancel(run.runId, { reason: "enough" });
  expect((await storyOf(client, run.runId)).status).toBe("cancelled");
  const story = await storyOf(client, inner?.runId ?? "");
  expect(story.status).toBe("cancelled");
  expect(story.run.compensation).toMatchObject({ undone: 0, left: 1 });
});

test("a child that fails by itself undoes its nodes while its parent waits, and a cancel of the parent lets it (S2.16)", async () => {
  const tag = randomUUID();
  const child = `failing-${tag}`;
  await client.workflows.create({
    ...{ id: child, title: "Child" },
    ...graph(["start > inner > fail"], {
      inner: effect(`inner-${tag}`, `hold-undo-${tag}`),
      fail: broken(),
    }),
  });
  const { run } = await client.runs.test(
    graph(["start > sub"], {
      sub: { type: "subworkflow", config: { workflow_id: child, input: { order: 1 } } },
    }),
  );
  const undoing = await sink.received(`hold-undo-${tag}`);
  expect(await statusOf(run.runId)).toBe("waiting");
  await client.runs.cancel(run.runId);
  expect(undoing.isOpen).toBe(true);
  undoing.answer(200);
  const story = await storyOf(client, run.runId);
  expect(story).toMatchObject({ status: "cancelled", nodes: { sub: "cancelled" } });
  const [inner] = (await client.runs.list({ workflowId: child })).runs;
  const { run: ended } = await client.runs.get(inner?.runId ?? "");
  expect(runStatusName(ended.status)).toBe("failed");
  expect(ended.compensation).toMatchObject({ undone: 1, left: 0 });
});

test("a test run that is compensated can be deleted (S2.16)", async () => {
  const tag = randomUUID();
  const { run } = await client.runs.test(
    graph(["start > a > fail"], { a: effect(`a-${tag}`, `hold-${tag}`), fail: broken() }),
    { input: { order: 1 } },
  );
  await firstEvent(client, run.runId, ({ iteration }) => iteration === undoOf(0));
  await client.runs.delete(run.runId);
  await expect(client.runs.get(run.runId)).rejects.toMatchObject({ reason: "RUN_NOT_FOUND" });
});
