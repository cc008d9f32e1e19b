// Pauses on two schedulers, which are killed while runs are paused. Paused runs stay paused, and continue when they are resumed.
import { createPawlClient, runStatusName, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { call, graph } from "../flow/graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "../flow/sink.ts";
import { firstEvent, storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({ schedulers: 2, executors: 2, envOf: { executor: SINK_EGRESS } });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await sink.stop();
});

/** Every scheduler dies at once, and comes back. */
const restartSchedulers = () => Promise.all(cluster.schedulers.map((one) => one.restart()));

/** Two branches, each a call that the test answers. */
const twoCalls = (name: string) =>
  graph(["start > one > after", "start > two > after"], {
    one: call(sink.url(`hold-${name}-1`)),
    two: call(sink.url(`hold-${name}-2`)),
  });

test("a paused run records the results of running nodes, starts nothing, survives kill -9 of every scheduler and continues from there (S0.14, X17)", async () => {
  const { run } = await client.runs.test(twoCalls("run"));
  const first = await sink.received("hold-run-1");
  const second = await sink.received("hold-run-2");
  const paused = await client.runs.pause(run.runId, { by: "ada", reason: "a bad model" });
  expect(runStatusName(paused.status)).toBe("paused");
  first.answer(200, {});
  await firstEvent(
    client,
    run.runId,
    ({ type, nodeId }) => /completed/.test(type) && nodeId === "one",
  );
  await restartSchedulers();
  second.answer(200, {});
  await firstEvent(
    client,
    run.runId,
    ({ type, nodeId }) => /completed/.test(type) && nodeId === "two",
  );
  const held = (await client.runs.get(run.runId)).run;
  expect(runStatusName(held.status)).toBe("paused");
  expect(held.waitingReason).toContain("paused by ada (a bad model)");
  expect(held.pause).toMatchObject({ by: "ada", reason: "a bad model" });
  const why = await client.runs.explain(run.runId, "after");
  expect(why.summary).toContain("paused by ada (a bad model)");
  expect(await checkInvariants(cluster.databaseUrl, [run.runId])).toEqual([]);
  await client.runs.resume(run.runId, { by: "ben" });
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  expect(story.of("run.status.changed").map(({ payload }) => payload)).toMatchObject([
    { to: "paused", by: "ada", reason: "a bad model", scope: "run" },
    { to: "running", by: "ben" },
  ]);
  expect(await checkInvariants(cluster.databaseUrl, [run.runId])).toEqual([]);
});

test("a paused run can be cancelled, and pausing one that is over is refused", async () => {
  const { run } = await client.runs.test(twoCalls("cancel"));
  const calls = await Promise.all([1, 2].map((nth) => sink.received(`hold-cancel-${nth}`)));
  await client.runs.pause(run.runId);
  await client.runs.pause(run.runId);
  expect(runStatusName((await client.runs.cancel(run.runId)).status)).toBe("cancelled");
  await Promise.all(calls.map(({ hungUp }) => hungUp));
  const over = { reason: "RUN_ALREADY_FINISHED" };
  await expect(client.runs.pause(run.runId)).rejects.toMatchObject(over);
  await expect(client.runs.resume(run.runId)).rejects.toMatchObject(over);
  expect(await checkInvariants(cluster.databaseUrl, [run.runId])).toEqual([]);
});

test("the runs below a run are paused with it when that is asked for, and are resumed with it", async () => {
  await client.workflows.create(graph(["start > work"], { work: call(sink.url("hold-child")) }), {
    workflowId: "below",
  });
  const below = { type: "subworkflow", config: { workflow_id: "below" } };
  const { run } = await client.runs.test(graph(["start > child"], { child: below }));
  const working = await sink.received("hold-child");
  await client.runs.pause(run.runId, { children: true });
  const [child] = (await client.runs.list({ workflowId: "below" })).runs;
  expect(child && runStatusName(child.status)).toBe("paused");
  working.answer(200, {});
  await firstEvent(
    client,
    child?.runId ?? "",
    ({ type, nodeId }) => /completed/.test(type) && nodeId === "work",
  );
  await client.runs.resume(run.runId, { children: true });
  expect((await storyOf(client, run.runId)).status).toBe("completed");
});
