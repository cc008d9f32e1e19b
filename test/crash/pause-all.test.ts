// Pauses of workflows and queues on two schedulers, which are killed in the middle of them. Paused runs stay paused, nothing starts past a
// pause, and the next scheduler continues with the steps that are left.
import { createPawlClient, runStatusName, type PawlClient } from "@pawl/client";
import { openPool, type Pool } from "@pawl/platform/db/pool";
import { ExplainReason } from "@pawl/proto/pawl/v1/explain_pb";
import { PauseScope } from "@pawl/proto/pawl/v1/pause_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { call, graph, names } from "../flow/graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "../flow/sink.ts";
import { firstEvent, storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import type { Member } from "../support/member.ts";
import { until } from "../support/until.ts";
import { failpoints } from "./processes.ts";

const ADA = { by: "ada", reason: "a bad model" };

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;
let db: Pool;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({
    schedulers: 2,
    envOf: { executor: SINK_EGRESS, scheduler: failpoints("pause.recorded=kill") },
  });
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  db = openPool(cluster.databaseUrl, { max: 1, name: "pawl-test" });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await db.end();
  await cluster.stop();
  await sink.stop();
});

const statusOf = async (runId: string): Promise<string> =>
  runStatusName((await client.runs.get(runId)).run.status);

const isDone = (node: string) => (event: { readonly type: string; readonly nodeId: string }) =>
  event.type === "node.completed" && event.nodeId === node;

const RUNS = 130;

/** How many runs of a workflow are paused, and how many are not; how many have ended, and how many of their nodes were claimed. */
async function countOf(workflowId: string) {
  const text = `select count(*) filter (where status = 'paused')::integer as paused,
    count(*) filter (where status <> 'paused' and ended_at is null)::integer as others,
    count(*) filter (where ended_at is not null)::integer as ended,
    (select count(*)::integer from run_events e join runs using (run_id)
      where workflow_id = $1 and e.type = 'node.started' and e.node_id = 'work') as claimed
    from runs where workflow_id = $1`;
  type Counts = { paused: number; others: number; ended: number; claimed: number };
  const { rows } = await db.query<Counts>({ text, values: [workflowId] });
  return rows[0] ?? { paused: 0, others: 0, ended: 0, claimed: 0 };
}

/** Sends a call that kills one of these schedulers at its failpoint, then kills the others. The call is not repeated. */
async function killedBy(
  alive: readonly Member[],
  ask: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const asking = new AbortController();
  const asked = ask(asking.signal).catch(() => undefined);
  await Promise.race(alive.map((one) => one.exited()));
  asking.abort();
  await asked;
  await Promise.all(alive.map((one) => one.kill("SIGKILL")));
}

test("a pause and a resumption survive kill -9 of every scheduler at each of their steps, and leave no run half way", async () => {
  await client.queues.pause("javascript", ADA);
  await client.workflows.create(graph(["start > work"]), { workflowId: "many" });
  const started = await Promise.all(names("run", RUNS).map(() => client.runs.start("many")));
  await killedBy(cluster.schedulers, (signal) =>
    client.workflows.pause("many", { ...ADA, signal }),
  );
  // The row was written, and no run has followed.
  expect(await countOf("many")).toMatchObject({ paused: 0, others: RUNS });
  // One takes over and is killed half way; the next one continues from there.
  const [successor] = cluster.schedulers;
  if (successor === undefined) throw new Error("there is no scheduler");
  await successor.restart(failpoints("pause.after-step=kill"));
  await successor.exited();
  const half = await countOf("many");
  expect([half.paused > 0, half.others > 0]).toEqual([true, true]);
  await successor.restart(failpoints("resume.recorded=kill"));
  await until(async () => (await client.queues.pauses()).every(({ pausing }) => !pausing), {
    what: "every run to be paused",
  });
  expect(await countOf("many")).toMatchObject({ paused: RUNS, others: 0 });
  await killedBy([successor], (signal) => client.workflows.resume("many", { signal }));
  expect(await countOf("many")).toMatchObject({ paused: RUNS, others: 0 });
  // The same when they are let go: one takes over and is killed half way.
  await successor.restart(failpoints("pause.after-step=kill"));
  await successor.exited();
  const mixed = await countOf("many");
  expect([mixed.paused > 0, mixed.others > 0]).toEqual([true, true]);
  await Promise.all(cluster.schedulers.map((one) => one.restart(failpoints(""))));
  await until(async () => (await client.queues.pauses()).length === 1, {
    what: "every run to be resumed",
  });
  // The queue is still paused after all kills.
  expect(await countOf("many")).toMatchObject({ paused: 0, others: RUNS, claimed: 0 });
  await client.queues.resume("javascript");
  await until(async () => (await countOf("many")).ended === RUNS, { what: "every run to end" });
  const ids = started.map(({ run }) => run.runId);
  expect(await checkInvariants(cluster.databaseUrl, ids)).toEqual([]);
});

test("a paused workflow starts nothing, new, child or scheduled, and continues when it is resumed", async () => {
  const definition = graph(["start > work > after"], { work: call(sink.url("hold-work")) });
  await client.workflows.create(definition, { workflowId: "held" });
  const below = { type: "subworkflow", config: { workflow_id: "held" } };
  await client.workflows.create(graph(["start > child"], { child: below }), {
    workflowId: "above",
  });
  const early = (await client.runs.start("held")).run;
  const working = await sink.received("hold-work");
  const pause = await client.workflows.pause("held", ADA);
  expect(pause).toMatchObject({ ...ADA, scope: PauseScope.WORKFLOW, name: "held", pausing: false });
  expect(await client.workflows.pause("held", { by: "ben" })).toMatchObject(ADA);
  // The running node finishes, and no node starts after it.
  working.answer(200, {});
  await firstEvent(client, early.runId, isDone("work"));
  const late = (await client.runs.start("held")).run;
  expect(runStatusName(late.status)).toBe("paused");
  await client.schedules.create("daily", { workflowId: "held", expression: "0 9 * * *" });
  const scheduled = (await client.schedules.trigger("daily")).run;
  const parent = (await client.runs.start("above")).run;
  await firstEvent(client, parent.runId, ({ type }) => type === "node.blocked");
  const held = (await client.runs.list({ workflowId: "held" })).runs;
  expect(held.map(({ status }) => runStatusName(status))).toEqual(Array(4).fill("paused"));
  const why = await client.runs.explain(early.runId, "after");
  expect(why.summary).toContain("workflow is paused by ada (a bad model)");
  expect(why.next).toBe("Resume it with `pawl workflow resume held`.");
  await expect(client.runs.resume(late.runId)).rejects.toMatchObject({ reason: "WORKFLOW_PAUSED" });
  expect(sink.calls.filter(({ name }) => name === "hold-work")).toHaveLength(1);
  await client.runs.pause(scheduled.runId, { by: "cy" });
  expect(await client.workflows.resume("held", { by: "ben" })).toEqual({ resuming: false });
  for (const nth of [2, 3]) (await sink.received("hold-work", nth)).answer(200, {});
  for (const { runId } of [early, late, parent])
    expect((await storyOf(client, runId)).status).toBe("completed");
  expect(await statusOf(scheduled.runId)).toBe("paused");
  await client.runs.resume(scheduled.runId);
  (await sink.received("hold-work", 4)).answer(200, {});
  expect((await storyOf(client, scheduled.runId)).status).toBe("completed");
  expect(await client.queues.pauses()).toEqual([]);
  const ids = [...held, parent].map(({ runId }) => runId);
  expect(await checkInvariants(cluster.databaseUrl, ids)).toEqual([]);
});

test("once a queue's pause is answered no scheduler claims of it, whatever was under way; resumed, everything is done once", async () => {
  await client.workflows.create(graph(["start > work > end"]), { workflowId: "busy" });
  const start = async (): Promise<string> => (await client.runs.start("busy")).run.runId;
  // Two schedulers are at work while the queue is paused under them.
  const before = names("run", 40).map(start);
  await Promise.race(before);
  await client.queues.pause("javascript", ADA);
  const { claimed } = await countOf("busy");
  const ids = await Promise.all([...before, ...names("late", 20).map(start)]);
  for (const runId of ids)
    await firstEvent(
      client,
      runId,
      ({ type, nodeId }) => type === "node.queued" && nodeId === "work",
    );
  const last = ids.at(-1) ?? "";
  const why = await client.runs.explain(last, "work");
  expect(why).toMatchObject({
    reason: ExplainReason.QUEUE_PAUSED,
    summary: expect.stringContaining("paused by ada (a bad model)"),
    next: "Resume it with `pawl queue resume javascript`.",
  });
  const { queues } = await client.queues.depth();
  expect(queues.find(({ nodeType }) => nodeType === "javascript")).toMatchObject({
    held: true,
    waiting: ids.length - claimed,
  });
  expect((await countOf("busy")).claimed).toBe(claimed);
  await client.queues.resume("javascript");
  for (const runId of ids) {
    const story = await storyOf(client, runId);
    expect([story.status, story.of("node.started", "work").length]).toEqual(["completed", 1]);
  }
  expect(await checkInvariants(cluster.databaseUrl, ids)).toEqual([]);
});
