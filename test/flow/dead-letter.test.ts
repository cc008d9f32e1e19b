// Nodes that kill their executors: the scheduler makes a dead letter, lists it, counts it, and redrives it as a new run.

import { randomUUID } from "node:crypto";
import { createPawlClient, jsonOf, type PawlClient } from "@pawl/client";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { DeadLetterState } from "@pawl/proto/pawl/v1/queue_service_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { failpoints, startExecutor } from "../crash/processes.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { graph } from "./graph.ts";
import { storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let metrics: string;

beforeAll(async () => {
  const metricsPort = await freePort();
  metrics = `http://${LOOPBACK}:${metricsPort}/metrics`;
  cluster = await startCluster({
    executors: 0,
    envOf: {
      scheduler: {
        PAWL_METRICS_PORT: String(metricsPort),
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
afterAll(() => cluster.stop());

const POISONED = graph(["poison > after"]);

/** Three executors get the poison and die of it. */
async function die(runId: string): Promise<void> {
  for (let death = 1; death <= 3; death += 1) {
    const victim = await startExecutor(cluster, failpoints("handler.before-run@1=kill"));
    expect(await victim.exited()).toBe("SIGKILL");
  }
  expect((await storyOf(client, runId)).status).toBe("failed");
}

const gauge = async (): Promise<string | undefined> =>
  /^pawl_dead_letters(?:\{[^}]*\})? (\d+)/m.exec(await (await fetch(metrics)).text())?.[1];

const gaugeShows = (count: string): Promise<unknown> =>
  until(async () => (await gauge()) === count, { what: `the gauge to show ${count}` });

const openCount = async (): Promise<number | undefined> =>
  (await client.queues.depth()).total?.deadLetter;

test("a poisoned run ends in a dead letter, which starts one new run however often it is redriven (S0.8, S0.13, S0.56, S0.57)", async () => {
  const workflowId = `poisoned-${randomUUID()}`;
  await client.workflows.create({ id: workflowId, title: "Poisoned", ...POISONED });
  const { run } = await client.runs.start(workflowId, { input: { name: "Ada" }, priority: 3 });
  await until(async () => (await client.queues.depth()).total?.waiting === 1, {
    what: "the poison to wait",
  });
  await die(run.runId);
  // A later version must not be what a redrive starts.
  await client.workflows.apply({ id: workflowId, title: "Cured", ...graph(["start > other"]) });

  const { deadLetters } = await client.deadLetters.list({ workflowId });
  const [letter] = deadLetters;
  if (letter === undefined) throw new Error("there is no dead letter");
  expect(deadLetters).toHaveLength(1);
  expect(letter).toMatchObject({ runId: run.runId, nodeId: "poison", nodeType: "javascript" });
  expect(letter).toMatchObject({ deliveries: 3, state: DeadLetterState.OPEN });
  expect(letter.errorMessage).toContain("lost 3 deliveries");
  const { total, queues } = await client.queues.depth();
  expect(total).toMatchObject({ waiting: 0, active: 0, paused: 0, deadLetter: 1 });
  expect(queues).toMatchObject([{ nodeType: "javascript", deadLetter: 1 }]);
  await gaugeShows("1");

  const ids = [letter.deadLetterId];
  const before = new Date(0);
  expect(await client.deadLetters.preview({ ids })).toMatchObject({ redriven: 1, runs: 1 });
  expect(await client.deadLetters.preview({ workflowId, before })).toMatchObject({ redriven: 0 });
  await startExecutor(cluster);
  const requestId = randomUUID();
  const { redriven } = await client.deadLetters.redrive({ ids, requestId });
  expect(redriven).toMatchObject([{ deadLetterId: letter.deadLetterId }]);
  const runId = redriven[0]?.runId ?? "";
  expect((await storyOf(client, runId)).status).toBe("completed");
  const { run: again } = await client.runs.get(runId);
  expect(again).toMatchObject({ workflowId, workflowVersion: 1, priority: 3 });
  expect(jsonOf(again.inputJson)).toEqual({ name: "Ada" });

  expect((await client.deadLetters.redrive({ ids, requestId })).redriven).toEqual(redriven);
  const late = await client.deadLetters.redrive({ ids });
  expect(late).toMatchObject({ redriven: [], left: [{ reason: "not_open", count: 1 }] });
  expect(await client.deadLetters.discard({ ids })).toEqual([]);
  expect((await client.runs.list({ workflowId })).runs).toHaveLength(2);
  const states = [DeadLetterState.REDRIVEN];
  expect((await client.deadLetters.list({ ids, states })).deadLetters).toMatchObject([
    { redriveRunId: runId },
  ]);
  expect(await openCount()).toBe(0);
  await gaugeShows("0");
  expect(await checkInvariants(cluster.databaseUrl, [run.runId, runId])).toEqual([]);
});

test("bad filters and limits are refused by field, and change nothing", async () => {
  const refused = async (call: Promise<unknown>) =>
    call.then(
      () => "nothing",
      (error: { reason: string; violations: readonly { path: string }[] }) =>
        `${error.reason} ${error.violations[0]?.path ?? ""}`,
    );
  const { deadLetters } = client;
  expect(await refused(deadLetters.discard({}))).toBe("INPUT_INVALID filter");
  const fast = { maxPerSecond: 1_001 };
  expect(await refused(deadLetters.redrive(fast))).toBe("INPUT_INVALID max_per_second");
  expect(await refused(deadLetters.preview({ limit: 1_001 }))).toBe("INPUT_INVALID limit");
  expect(await refused(deadLetters.list({ ids: ["x"] }))).toBe(
    "INPUT_INVALID filter.dead_letter_ids[0]",
  );
  expect(await refused(deadLetters.list({ nodeType: "a b" }))).toBe(
    "INPUT_INVALID filter.node_type",
  );
});
