// Two processes with one executor id, as real processes. One of them works; the scheduler refuses the other until the first is gone. Also:
// which executors may serve the built-in node types.
import { createPawlClient } from "@pawl/client";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { EXECUTOR_TOKEN, type Member } from "../support/member.ts";
import { until } from "../support/until.ts";
import { completed, connectExecutor, type FakeExecutor, TASK } from "../wire/fake-executor.ts";
import { graph, script } from "./graph.ts";
import { runGraph } from "./story.ts";

const ID = "7a0f4d7e-5c1b-4d6a-9b57-0c2f6f3d1e11";
const GRAPH = graph([], { a: script("return {}") });

const connected = (cluster: Cluster, at = 0): FakeExecutor =>
  connectExecutor(`${LOOPBACK}:${cluster.schedulers[at]?.port}`);

const statusOf = async (cluster: Cluster): Promise<string> =>
  (await runGraph(createPawlClient({ baseUrl: cluster.url }), GRAPH)).status;

const readyz = async ({ probePort }: Member) => {
  const headers = { accept: "application/json" };
  const response = await fetch(`http://${LOOPBACK}:${probePort}/readyz`, { headers });
  return { status: response.status, body: JSON.stringify(await response.json()) };
};

test("of two executors with one id one works and the other says why not; when the first leaves, the other takes over (S0.16)", async () => {
  await using cluster = await startCluster({
    schedulers: 2,
    executors: 2,
    envOf: { executor: { PAWL_EXECUTOR_ID: ID } },
  });
  const [working, refused] = await until(
    async () => {
      const states = await Promise.all(cluster.executors.map(readyz));
      const isReady = (index: number): boolean => states[index]?.status === 200;
      const [first, second] = cluster.executors;
      if (first === undefined || second === undefined || isReady(0) === isReady(1))
        return undefined;
      return isReady(0) ? [first, second] : [second, first];
    },
    { what: "one executor to be registered, and only one" },
  );
  await until(() => refused.logs().includes("Another process registered with executor id"), {
    what: "the refused one to say why",
  });
  expect((await readyz(refused)).body).toContain("PAWL_EXECUTOR_ID");
  expect(await statusOf(cluster)).toBe("completed");
  await working.stop();
  expect(await statusOf(cluster)).toBe("completed");
  expect((await readyz(refused)).status).toBe(200);
});

test("a stranger that registers with the id of a live executor is refused and does not silence it", async () => {
  await using cluster = await startCluster({
    schedulers: 2,
    envOf: { executor: { PAWL_EXECUTOR_ID: ID } },
  });
  const [executor] = cluster.executors;
  if (executor === undefined) throw new Error("there is no executor");
  await until(async () => (await readyz(executor)).status === 200, { what: "it to register" });
  for (const at of [0, 1]) {
    const stranger = connected(cluster, at);
    const value = { executorId: ID, nodeTypes: [TASK], slots: 1 } as never;
    stranger.say({ case: "register", value });
    expect(await stranger.ended).toMatchObject({ reason: "EXECUTOR_ID_TAKEN" });
    await stranger.leave();
  }
  expect(await statusOf(cluster)).toBe("completed");
});

test("of two streams that name no process the older one is ended with an error, also at another scheduler", async () => {
  await using cluster = await startCluster({ schedulers: 2, executors: 0 });
  const [first, second] = [connected(cluster, 0), connected(cluster, 0)];
  await first.register({ executorId: ID });
  await second.register({ executorId: ID });
  expect(await first.ended).toMatchObject({ reason: "EXECUTOR_ID_TAKEN" });
  const third = connected(cluster, 1);
  await third.register({ executorId: ID, nodeTypes: ["javascript"], token: EXECUTOR_TOKEN });
  // The second executor gets the error when it renews.
  second.say({ case: "renew", value: { held: [] } } as never);
  expect(await second.ended).toMatchObject({ reason: "EXECUTOR_ID_TAKEN" });
  // And its leaving takes nothing from the one that works.
  await second.leave();
  const client = createPawlClient({ baseUrl: cluster.url });
  const { run } = await client.runs.test(GRAPH);
  const { claim } = await third.hear("assignment", 1);
  if (claim === undefined) throw new Error("an assignment without a claim");
  third.say(completed(claim));
  await third.hear("settled", 1);
  expect(run.runId).not.toBe("");
  await third.leave();
});

test("a scheduler without executors is ready, accepts runs and says in /readyz that none of their nodes can run", async () => {
  await using cluster = await startCluster({ executors: 0 });
  const [scheduler] = cluster.schedulers;
  if (scheduler === undefined) throw new Error("there is no scheduler");
  const alone = await readyz(scheduler);
  expect(alone.status).toBe(200);
  expect(alone.body).toContain(
    "0 connected to this scheduler, 0 alive in all; the scheduler accepts runs",
  );
  const executor = connected(cluster);
  await executor.register();
  expect((await readyz(scheduler)).body).toContain("1 connected to this scheduler, 1 alive in all");
  await executor.leave();
});

test("built-in node types are refused to an executor without a token, with the next step", async () => {
  await using cluster = await startCluster({ executors: 0 });
  const stranger = connected(cluster);
  const value = { executorId: ID, nodeTypes: [TASK, "http"], slots: 1 } as never;
  stranger.say({ case: "register", value });
  const refusal = await stranger.ended;
  expect(refusal).toMatchObject({ reason: "FORBIDDEN" });
  expect(refusal?.message).toContain("Set PAWL_EXECUTOR_TOKEN of this executor");
  await stranger.leave();
});
