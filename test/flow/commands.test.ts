// Commands about runs and workflows, on an executor with room for one attempt, which makes order and waiting visible.
import {
  createPawlClient,
  isFinalStatus,
  type PawlClient,
  type PawlError,
  runStatusName,
} from "@pawl/client";
import { RunKind, RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { call, graph, script } from "./graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "./sink.ts";
import { firstEvent, msOf, runGraph, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({
    envOf: { executor: { ...SINK_EGRESS, PAWL_EXECUTOR_SLOTS: "1" } },
  });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await sink.stop();
});

/** A workflow whose only work is a call that the test answers. */
const held = (name: string) => graph(["start > work > after"], { work: call(sink.url(name)) });

test("cancelling a run aborts its running nodes, keeps waiting nodes from starting and says why (S1.9, S1.38, S1.39, S1.40, S4.8)", async () => {
  const { run } = await client.runs.test(held("hold-cancel"));
  const working = await sink.received("hold-cancel");
  const cancelled = await client.runs.cancel(run.runId, { reason: "changed my mind" });
  expect(runStatusName(cancelled.status)).toBe("cancelled");
  await working.hungUp;
  const story = await storyOf(client, run.runId);
  expect(story.nodes).toEqual({ start: "completed", work: "cancelled", after: "cancelled" });
  expect(story.of("node.started", "after")).toEqual([]);
  expect(story.events.at(-1)).toMatchObject({
    type: "run.cancelled",
    payload: { reason: "changed my mind" },
  });
  await expect(client.runs.cancel(run.runId)).rejects.toMatchObject({
    reason: "RUN_ALREADY_FINISHED",
  });
});

test("a run has an hour unless the call sets a deadline; a run past its deadline times out and releases its work (S2.12, S4.10)", async () => {
  const unhurried = (await client.runs.test(graph(["start > a"]))).run;
  expect(msOf(unhurried.deadlineTime) - msOf(unhurried.createTime)).toBe(3_600_000);
  const { workflowId } = await client.workflows.create(held("hold-deadline"), {
    workflowId: "deadline",
  });
  const { run } = await client.runs.start(workflowId, { deadlineMs: 2_000 });
  const working = await sink.received("hold-deadline");
  const story = await storyOf(client, run.runId);
  await working.hungUp;
  expect(story.status).toBe("timeout");
  const last = story.events.at(-1);
  expect(last?.type).toBe("run.timed_out");
  expect(last?.at).toBeGreaterThanOrEqual(msOf(story.run.deadlineTime));
});

test("a delay holds no room: another run passes it on an executor with one slot (S3.29)", async () => {
  const { run } = await client.runs.test(
    graph(["start > pause > after"], { pause: { type: "delay", config: { delay_ms: 600_000 } } }),
  );
  await firstEvent(client, run.runId, ({ type, nodeId }) => {
    return type === "node.queued" && nodeId === "after";
  });
  expect((await runGraph(client, graph(["start > quick"]))).status).toBe("completed");
  await client.runs.cancel(run.runId);
  expect((await storyOf(client, run.runId)).nodes).toEqual({
    start: "completed",
    pause: "completed",
    after: "cancelled",
  });
});

test("GetRun says until when a delay holds back the next node (S3.29)", async () => {
  const { run } = await client.runs.test(
    graph(["start > pause > after"], { pause: { type: "delay", config: { delay_ms: 600_000 } } }),
  );
  await firstEvent(client, run.runId, ({ type, nodeId }) => {
    return type === "node.queued" && nodeId === "after";
  });
  const { nodes } = (await client.runs.get(run.runId)).run;
  const [start, pause, after] = nodes;
  expect(nodes.map(({ nodeId }) => nodeId)).toEqual(["start", "pause", "after"]);
  expect(msOf(pause?.releaseTime) - msOf(pause?.endTime)).toBe(600_000);
  expect([start?.releaseTime, after?.releaseTime]).toEqual([undefined, undefined]);
  await client.runs.cancel(run.runId);
});

test("of waiting runs the run with the lowest priority number starts first (S0.3, S0.6, X16)", async () => {
  const blocker = await client.runs.test(held("hold-room"));
  const holding = await sink.received("hold-room");
  const { workflowId } = await client.workflows.create(
    graph(["start > work"], { work: call("{{ ctx.input.url }}") }),
    { workflowId: "ordered" },
  );
  const start = async (priority: number): Promise<string> => {
    const input = { url: sink.url(`priority${priority}`) };
    return (await client.runs.start(workflowId, { priority, input })).run.runId;
  };
  const runIds: string[] = [];
  for (const priority of [5, 0, 9, -5]) runIds.push(await start(priority));
  expect(sink.calls.some(({ name }) => name.startsWith("priority"))).toBe(false);
  holding.answer(200);
  for (const runId of [blocker.run.runId, ...runIds]) await client.runs.wait(runId);
  const order = sink.calls.map(({ name }) => name).filter((name) => name.startsWith("priority"));
  expect(order).toEqual(["priority-5", "priority0", "priority5", "priority9"]);
});

test("a test run defines nothing for good and is deleted whole (S3.12, S3.45, X19)", async () => {
  const { run } = await client.runs.test(held("hold-test"), { input: { a: 1 } });
  expect(run.kind).toBe(RunKind.TEST);
  const working = await sink.received("hold-test");
  working.answer(200);
  await client.runs.wait(run.runId);
  await client.runs.delete(run.runId);
  await expect(client.runs.get(run.runId)).rejects.toMatchObject({ reason: "RUN_NOT_FOUND" });
  await expect(client.events.list(run.runId)).rejects.toMatchObject({ reason: "RUN_NOT_FOUND" });
  const { runs } = await client.runs.list({ kind: RunKind.TEST, pageSize: 200 });
  expect(runs.map(({ runId }) => runId)).not.toContain(run.runId);
});

test("DeleteRun of a live test run stops it and deletes it in one call; its watchers' streams end (S3.45)", async () => {
  const { run } = await client.runs.test(held("hold-deleted-run"));
  const { runId } = run;
  const working = await sink.received("hold-deleted-run");
  const watching = client.runs.wait(runId).then(
    ({ status }) => runStatusName(status),
    (error: PawlError) => error.reason,
  );
  await client.runs.delete(runId);
  await working.hungUp;
  expect(["cancelled", "RUN_NOT_FOUND"]).toContain(await watching);
  await expect(client.runs.get(runId)).rejects.toMatchObject({ reason: "RUN_NOT_FOUND" });
  await expect(client.runs.delete(runId)).rejects.toMatchObject({ reason: "RUN_NOT_FOUND" });
  // The executor's one slot is free again.
  expect((await runGraph(client, graph(["start > a > end"]))).status).toBe("completed");
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});

test("a saved run is history and cannot be deleted (X19)", async () => {
  await client.workflows.create(graph(["start > a"]), { workflowId: "history" });
  const { run } = await client.runs.start("history");
  await client.runs.wait(run.runId);
  await expect(client.runs.delete(run.runId)).rejects.toMatchObject({
    reason: "RUN_NOT_DELETABLE",
  });
});

test("the same request starts one run, however often and however close together it comes (S1.59, X23)", async () => {
  await client.workflows.create(graph(["start > a"]), { workflowId: "once" });
  const request = { requestId: "order-7", input: { item: 7 } };
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => client.runs.start("once", request)),
  );
  const again = await client.runs.start("once", request);
  expect(new Set([...answers, again].map(({ run }) => run.runId)).size).toBe(1);
  expect(answers.filter(({ isDuplicate }) => !isDuplicate)).toHaveLength(1);
  expect(again.isDuplicate).toBe(true);
  expect((await client.runs.list({ workflowId: "once" })).runs).toHaveLength(1);
  const other = client.runs.start("once", { ...request, input: { item: 8 } });
  await expect(other).rejects.toMatchObject({ reason: "REQUEST_ID_REUSED", code: 6 });
  expect((await client.runs.list({ workflowId: "once" })).runs).toHaveLength(1);
  await client.runs.wait(again.run.runId);
});

test("starting a run answers before its nodes are done (S3.11)", async () => {
  await client.workflows.create(held("hold-answer"), { workflowId: "answers" });
  const { run } = await client.runs.start("answers");
  expect(isFinalStatus((await client.runs.get(run.runId)).run.status)).toBe(false);
  (await sink.received("hold-answer")).answer(200);
  await client.runs.wait(run.runId);
});

test("a run keeps the version it started with; edits are for the next one (S3.45)", async () => {
  const version = (text: string) =>
    graph(["start > gate > say"], {
      gate: call(sink.url("hold-version")),
      say: script(`return "${text}"`),
    });
  await client.workflows.create(version("one"), { workflowId: "edited" });
  const first = await client.runs.start("edited");
  const gate = await sink.received("hold-version");
  const edited = await client.workflows.update("edited", version("two"), { expectedVersion: 1 });
  expect(edited.version).toBe(2);
  await expect(
    client.workflows.update("edited", version("three"), { expectedVersion: 1 }),
  ).rejects.toMatchObject({ reason: "VERSION_MISMATCH" });
  gate.answer(200);
  const old = await storyOf(client, first.run.runId);
  expect([old.run.workflowVersion, old.outputOf("say")]).toEqual([1, "one"]);
  const second = await client.runs.start("edited");
  (await sink.received("hold-version", 2)).answer(200);
  const next = await storyOf(client, second.run.runId);
  expect([next.run.workflowVersion, next.outputOf("say")]).toEqual([2, "two"]);
  const pinned = await client.runs.start("edited", { version: 1 });
  (await sink.received("hold-version", 3)).answer(200);
  expect((await storyOf(client, pinned.run.runId)).outputOf("say")).toBe("one");
});

test("a workflow with live runs is deleted only by force, and its runs continue (S3.45)", async () => {
  await client.workflows.create(held("hold-delete"), { workflowId: "doomed" });
  const { run } = await client.runs.start("doomed");
  const working = await sink.received("hold-delete");
  await expect(client.workflows.delete("doomed")).rejects.toMatchObject({
    reason: "HAS_LIVE_RUNS",
    code: 9,
    message: expect.stringContaining("has 1 live run; cancel"),
    metadata: { live_runs: "1" },
  });
  await client.workflows.delete("doomed", { force: true });
  await expect(client.runs.start("doomed")).rejects.toMatchObject({
    reason: "WORKFLOW_NOT_FOUND",
  });
  working.answer(200);
  expect((await storyOf(client, run.runId)).status).toBe("completed");
});

test("runs are listed newest first, by page, workflow, kind and status (S3.45)", async () => {
  await client.workflows.create(graph(["start > a"]), { workflowId: "listed" });
  const started: string[] = [];
  for (let count = 0; count < 5; count++)
    started.push((await client.runs.start("listed")).run.runId);
  for (const runId of started) await client.runs.wait(runId);
  const seen: string[] = [];
  let pageToken = "";
  do {
    const page = await client.runs.list({ workflowId: "listed", pageSize: 2, pageToken });
    expect(page.runs.length).toBeLessThanOrEqual(2);
    seen.push(...page.runs.map(({ runId }) => runId));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(seen).toEqual(started.toReversed());
  const timedOut = await client.runs.list({ statuses: [RunStatus.TIMEOUT] });
  expect(timedOut.runs.map(({ workflowId }) => workflowId)).toEqual(["deadline"]);
  const tests = await client.runs.list({ kind: RunKind.TEST });
  expect(tests.runs.every(({ workflowId }) => workflowId === "")).toBe(true);
  const { nextPageToken } = await client.runs.list({ pageSize: 1 });
  await expect(
    client.runs.list({ workflowId: "listed", pageToken: nextPageToken }),
  ).rejects.toMatchObject({ reason: "INPUT_INVALID" });
});

test("the logs of cancelled, timed out and deleted runs hold, and no claim is left (S3.2, S3.52)", async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});
