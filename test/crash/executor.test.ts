// Executors that die, freeze, leave or lose a message. Another executor does their work, once, under the same effect key.
import { randomUUID } from "node:crypto";
import { createPawlClient, type PawlClient } from "@pawl/client";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { call, graph } from "../flow/graph.ts";
import { startSink, type Sink } from "../flow/sink.ts";
import { firstEvent, storyOf, type Story, type Told } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { failpoints, startExecutor, type Executor } from "./processes.ts";
import { startDeafExecutor } from "./deaf-executor.ts";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({
    executors: 0,
    envOf: {
      scheduler: {
        PAWL_LEASE_MS: "1500",
        PAWL_RENEW_MS: "300",
        PAWL_SWEEP_MS: "300",
        PAWL_GRACE_MS: "500",
        PAWL_POLL_MS: "200",
      },
    },
  });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await sink.stop();
});

/** A node of three seconds beside a call to the sink, and what joins them. */
const slowWork = (name: string) =>
  graph(["start > slow > join", "start > effect > join"], {
    slow: {
      type: "text_stream",
      config: { text: "x".repeat(30), chunk_chars: 1, interval_ms: 100 },
    },
    effect: call(sink.url(name)),
  });

const isStart = (nodeId: string) => (event: Told) =>
  event.type === "node.started" && event.nodeId === nodeId;

/** The executor that holds the claim that an event began. */
const holderOf = (event: Told, crew: readonly Executor[]): Executor => {
  // The wire's payload of node.started.
  const { executorId } = event.payload as { executorId: string };
  const holder = crew.find((executor) => executor.executorId === executorId);
  if (holder === undefined) throw new Error(`nobody here is ${executorId}`);
  return holder;
};

const registered = async (...crew: readonly Executor[]): Promise<void> => {
  for (const executor of crew)
    await until(() => executor.logs().includes('"registered"'), {
      what: "an executor to register",
    });
};

const completedOnce = (story: Story): void => {
  const ids = story.of("node.completed").map(({ nodeId }) => nodeId);
  expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted());
  expect(ids).toHaveLength(Object.keys(story.nodes).length);
};

test("a node whose executor is killed runs again elsewhere within five seconds, under the same effect key (S0.2, S0.35, S0.38, S0.39, S1.49, S4.5, S4.35)", async () => {
  // The scheduler gives work to the executor with the most room.
  const doomed = await startExecutor(cluster);
  const heir = await startExecutor(cluster, { PAWL_EXECUTOR_SLOTS: "8" });
  await registered(doomed, heir);
  const { run } = await client.runs.test(slowWork("hold-kill"));
  await sink.received("hold-kill");
  await firstEvent(client, run.runId, ({ type }) => type === "node.stream.delta");
  const killedAt = Date.now();
  await doomed.kill("SIGKILL");
  (await sink.received("hold-kill", 2)).answer(200);
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  completedOnce(story);
  for (const nodeId of ["slow", "effect"]) {
    const starts = story.of("node.started", nodeId);
    expect(starts.map((event) => holderOf(event, [doomed, heir]))).toEqual([doomed, heir]);
    expect((starts[1]?.at ?? Infinity) - killedAt).toBeLessThan(5_000);
    // A lost claim costs a delivery and never an attempt of the handler (X10).
    expect(starts.map(({ attempt }) => attempt)).toEqual([1, 1]);
    expect(story.of("run.recovered", nodeId)[0]?.payload).toMatchObject({
      reason: "stream_broken",
      lostDeliveries: 1,
    });
  }
  const deltas = story.of("node.stream.delta", "slow");
  expect(new Set(deltas.map(({ epoch }) => epoch)).size).toBe(2);
  // The index of the deltas grows over both deliveries.
  expect(deltas.map(({ payload }) => (payload as { deltaIndex?: number }).deltaIndex ?? 0)).toEqual(
    deltas.map((_, index) => index),
  );
  const calls = sink.calls.filter(({ name }) => name === "hold-kill");
  expect(calls.map(({ idempotencyKey }) => idempotencyKey)).toEqual([
    `${run.runId}/effect/0`,
    `${run.runId}/effect/0`,
  ]);
  expect(await checkInvariants(cluster.databaseUrl, [run.runId])).toEqual([]);
});

test("an executor frozen past its lease is refused when it wakes, and the log does not change (S0.40, S0.41, S0.42, S0.43, S0.44, S0.32)", async () => {
  const crew = [await startExecutor(cluster), await startExecutor(cluster)];
  await registered(...crew);
  const { run } = await client.runs.test(
    graph(["start > work > after"], { work: call(sink.url("hold-freeze")) }),
  );
  const zombie = holderOf(await firstEvent(client, run.runId, isStart("work")), crew);
  const heir = crew.find((executor) => executor !== zombie);
  const first = await sink.received("hold-freeze");
  await zombie.kill("SIGSTOP");
  // The sink answers while the executor is frozen. The executor finds the result when it wakes, too late.
  first.answer(200, { from: "the zombie" });
  (await sink.received("hold-freeze", 2)).answer(200, { from: "the heir" });
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  expect(story.outputOf("work")).toMatchObject({ body: { from: "the heir" } });
  // A frozen executor gets no more work, although its stream is open.
  expect(story.of("run.recovered")).toHaveLength(1);
  expect(story.of("node.started", "after").map((event) => holderOf(event, crew))).toEqual([heir]);
  await zombie.kill("SIGCONT");
  await until(() => zombie.logs().includes("claim lost"), {
    what: "the zombie to learn that its claim is lost",
  });
  const { events } = await client.events.list(run.runId, { pageSize: 1_000 });
  expect(events.map(({ eventId }) => Number(eventId))).toEqual(
    story.events.map(({ eventId }) => eventId),
  );
  completedOnce(story);
  const epochs = story.of("node.started", "work").map(({ epoch }) => epoch);
  expect(epochs).toHaveLength(2);
  expect(epochs[1]).toBeGreaterThan(epochs[0] ?? Infinity);
  expect(await checkInvariants(cluster.databaseUrl, [run.runId])).toEqual([]);
});

test("a result that comes after its claim was lost is refused in the transaction that would have used it (S0.42, S0.43, X2)", async () => {
  // The executor is stopped between its effect and its report, until another has done its work.
  const late = await startExecutor(cluster, failpoints("handler.after-run@1=stop"));
  const heir = await startExecutor(cluster, { PAWL_EXECUTOR_SLOTS: "8" });
  await registered(late, heir);
  const { run } = await client.runs.test(
    graph(["start > work > after"], { work: call(sink.url("late")) }),
  );
  const story = await storyOf(client, run.runId);
  const [claimed, again] = story.of("node.started", "work");
  expect([claimed, again].map((event) => event && holderOf(event, [late, heir]))).toEqual([
    late,
    heir,
  ]);
  await late.kill("SIGCONT");
  const refusal = `"epoch":${claimed?.epoch},"executor_id":"${late.executorId}","msg":"refused a stale claim"`;
  const scheduler = cluster.schedulers[0];
  await until(() => scheduler?.logs().includes(refusal), { what: "the refusal" });
  await until(() => late.logs().includes("claim lost"), {
    what: "the late executor to learn that its claim is lost",
  });
  const { events } = await client.events.list(run.runId, { pageSize: 1_000 });
  expect(events).toHaveLength(story.events.length);
  completedOnce(story);
  const keys = sink.calls.filter(({ name }) => name === "late").map((each) => each.idempotencyKey);
  expect(keys).toEqual([`${run.runId}/work/0`, `${run.runId}/work/0`]);
});

test("an executor that leaves gives its claims back: no delivery counts as lost, no attempt is spent (S0.49, S0.51, X18)", async () => {
  const leaver = await startExecutor(cluster, { PAWL_EXECUTOR_GRACE_MS: "0" });
  await registered(leaver);
  const { run } = await client.runs.test(
    graph(["start > work"], { work: call(sink.url("hold-leave")) }),
  );
  await sink.received("hold-leave");
  const heir = await startExecutor(cluster);
  await registered(heir);
  await leaver.kill("SIGTERM");
  expect(await leaver.exited()).toBe("exit code 0");
  (await sink.received("hold-leave", 2)).answer(200);
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  expect(story.of("run.recovered")).toMatchObject([
    { payload: { reason: "released", executorId: leaver.executorId } },
  ]);
  const starts = story.of("node.started", "work");
  expect(starts.map((event) => holderOf(event, [leaver, heir]))).toEqual([leaver, heir]);
  expect(starts.map(({ attempt }) => attempt)).toEqual([1, 1]);
  expect(story.run.nodes.map(({ lostDeliveries }) => lostDeliveries)).toEqual([0, 0]);
});

test("a scheduler that was away for longer than a lease takes nothing from executors that live on (S0.39, X14)", async () => {
  const executor = await startExecutor(cluster);
  await registered(executor);
  const { run } = await client.runs.test(
    graph(["start > work"], { work: call(sink.url("hold-away")) }),
  );
  const working = await sink.received("hold-away");
  await cluster.schedulers[0]?.kill("SIGKILL");
  await until(() => isOverdue(executor.executorId), { what: "its lease to run out" });
  await cluster.schedulers[0]?.restart();
  await until(async () => !(await isOverdue(executor.executorId)), { what: "it to be back" });
  working.answer(200);
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  expect(story.of("run.recovered")).toEqual([]);
  expect(story.of("node.started", "work")).toHaveLength(1);
});

const isOverdue = async (executorId: string): Promise<boolean> => {
  const rows = await ask<{ overdue: boolean }>(
    "select alive_until < now() as overdue from pawl.executors where executor_id = $1",
    [executorId],
  );
  return rows[0]?.overdue === true;
};

async function ask<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
  const database = new Client({ connectionString: cluster.databaseUrl });
  await database.connect();
  try {
    return (await database.query<Row>(text, values)).rows;
  } finally {
    await database.end();
  }
}

test("a node that loses three deliveries fails for good and is put with the dead letters (S0.8, S0.13, S0.56, S0.57, X10, S4.5, S4.21)", async () => {
  const { run } = await client.runs.test(graph(["start > poison > after"]));
  for (let death = 1; death <= 3; death += 1) {
    const victim = await startExecutor(cluster, failpoints("handler.before-run@1=kill"));
    expect(await victim.exited()).toBe("SIGKILL");
  }
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("failed");
  expect(story.of("run.recovered", "poison").map(({ payload }) => payload)).toMatchObject([
    { lostDeliveries: 1 },
    { lostDeliveries: 2 },
    { lostDeliveries: 3 },
  ]);
  expect(story.of("node.failed", "poison")[0]?.payload).toMatchObject({
    cause: "delivery_exhausted",
  });
  expect(story.of("node.started", "poison").map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  await dealWithLetter(run.runId);
  expect(await checkInvariants(cluster.databaseUrl, [run.runId])).toEqual([]);
});

/** A test run cannot be started again: its letter is left with the reason, and discarded once. */
async function dealWithLetter(runId: string): Promise<void> {
  const { deadLetters } = await client.deadLetters.list();
  const ids = deadLetters.map((letter) => letter.deadLetterId);
  expect(deadLetters).toMatchObject([{ runId, nodeId: "poison", deliveries: 3, workflowId: "" }]);
  const left = [{ reason: "test_run", count: 1 }];
  expect(await client.deadLetters.preview()).toMatchObject({ redriven: 0, left });
  expect(await client.deadLetters.redrive()).toMatchObject({ redriven: [], left });
  expect((await client.queues.depth()).total).toMatchObject({ deadLetter: 1 });
  const discard = { nodeType: "javascript", requestId: randomUUID() };
  expect(await client.deadLetters.discard(discard)).toEqual(ids);
  expect(await client.deadLetters.discard(discard)).toEqual(ids);
  expect((await client.queues.depth()).total).toMatchObject({ deadLetter: 0 });
}

test("an assignment that never arrived is taken back and given to another (S0.11, X4)", async () => {
  const deaf = await startDeafExecutor(cluster, ["javascript"]);
  const { run } = await client.runs.test(graph(["start > work"]));
  await firstEvent(client, run.runId, isStart("work"));
  const heir = await startExecutor(cluster);
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  expect(story.of("run.recovered", "work")[0]?.payload).toMatchObject({
    reason: "not_held",
    executorId: deaf.executorId,
  });
  expect(story.of("node.started", "work").at(-1)?.payload).toEqual({
    executorId: heir.executorId,
  });
  completedOnce(story);
});

test("the logs keep their invariants after all faults of the executors (S0.14, S3.2)", async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});
