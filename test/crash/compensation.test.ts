// Schedulers and executors die at every named point while a run is compensated. The next process continues: each execution is undone once, in
// the legal order, under one key.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { undoOf } from "@pawl/core/log/undo-iteration";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { graph, type NodeText } from "../flow/graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "../flow/sink.ts";
import { firstEvent, storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { failpoints, replaceScheduler, startExecutor } from "./processes.ts";

const EXECUTOR_POINTS = [
  "assignment.received",
  "handler.before-run",
  "handler.after-run",
  "outcome.sent",
  "outcome.acknowledged",
];
const SCHEDULER_POINTS = [
  "tick.undo-begins@1",
  "tick.undone@1",
  "tick.undone@2",
  "tick.undone@3",
  "tick.before-commit@2",
  "tick.after-commit@1",
  "tick.after-commit@3",
];
const tagOf = (point: string): string => point.replaceAll(/\W/g, "-");

/** The run of each point. All wait for a person before the first process is killed. */
const runs = new Map<string, string>();
const runOf = (point: string): string => runs.get(point) ?? "";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({
    env: SINK_EGRESS,
    envOf: {
      scheduler: {
        PAWL_LEASE_MS: "1500",
        PAWL_RENEW_MS: "300",
        PAWL_SWEEP_MS: "300",
        PAWL_GRACE_MS: "200",
      },
    },
  });
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  const points = [...EXECUTOR_POINTS, ...SCHEDULER_POINTS];
  await Promise.all(points.map(async (point) => void runs.set(point, await begin(tagOf(point)))));
  await cluster.executors[0]?.kill("SIGKILL");
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await sink.stop();
});

const http = (name: string) => ({
  type: "http",
  config: { url: sink.url(name), method: "POST", idempotency_key_header: "Idempotency-Key" },
});
const effect = (tag: string, id: string): NodeText => ({
  ...http(`do-${id}-${tag}`),
  compensation: http(`undo-${id}-${tag}`),
});

/** a, then b and c at once, then a question that no person answers. */
const saga = (tag: string) =>
  graph(["start > a > b > ask", "a > c > ask"], {
    a: effect(tag, "a"),
    b: effect(tag, "b"),
    c: effect(tag, "c"),
    ask: { type: "approval", config: { message: "May it go on?" } },
  });

/** A run whose effects are made, and which waits for a person. */
async function begin(tag: string): Promise<string> {
  const { run } = await client.runs.test(saga(tag));
  await firstEvent(client, run.runId, ({ type }) => type === "node.blocked");
  return run.runId;
}

async function expectUndoneOnce(runId: string, tag: string): Promise<void> {
  const story = await storyOf(client, runId);
  expect(story.status).toBe("cancelled");
  expect(story.run.compensation).toMatchObject({ undone: 3, left: 0, open: 0 });
  const undone = story.events.filter(
    (e) => e.type === "node.completed" && e.iteration === undoOf(0),
  );
  expect(undone.map(({ nodeId }) => nodeId).toSorted()).toEqual(["a", "b", "c"]);
  expect(undone.at(-1)?.nodeId).toBe("a");
  const calls = sink.calls.filter(({ name }) => name.startsWith("undo-") && name.endsWith(tag));
  const keys = new Set(calls.map(({ name, idempotencyKey }) => `${name} ${idempotencyKey}`));
  expect(keys.size).toBe(3);
  const lastOther = calls.findLastIndex(({ name }) => !name.startsWith("undo-a"));
  expect(calls.findIndex(({ name }) => name.startsWith("undo-a"))).toBeGreaterThan(lastOther);
  const { effects } = await client.runs.effects(runId);
  const committed = effects.filter((e) => e.iteration === undoOf(0) && e.commitTime !== undefined);
  expect(committed.map(({ nodeId }) => nodeId)).toEqual(["a", "b", "c"]);
  expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
}

test.for(EXECUTOR_POINTS)(
  "an executor killed at %s while it undoes loses nothing (S2.16, S0.35)",
  async (point) => {
    const doomed = await startExecutor(cluster, failpoints(`${point}@1=kill`));
    await client.runs.cancel(runOf(point));
    expect(await doomed.exited()).toBe("SIGKILL");
    await startExecutor(cluster);
    await expectUndoneOnce(runOf(point), tagOf(point));
  },
);

/** Ends the cluster's own scheduler and starts its executor, once: each test below starts schedulers in its place. */
let isRetired = false;
async function retireScheduler(): Promise<void> {
  if (isRetired) return;
  isRetired = true;
  await cluster.executors[0]?.restart();
  await cluster.schedulers[0]?.kill("SIGKILL");
}

test.for(SCHEDULER_POINTS)(
  "a scheduler killed at %s of a compensation undoes each execution once (S2.16, S0.36)",
  async (point) => {
    await retireScheduler();
    const doomed = await replaceScheduler(cluster, failpoints(`${point}=kill`));
    const requestId = `cancel-${tagOf(point)}`;
    const cancelled = client.runs.cancel(runOf(point), { requestId });
    expect(await doomed.exited()).toBe("SIGKILL");
    await replaceScheduler(cluster);
    // The request id makes the repeat of the client harmless, whether the first one was committed or not.
    await cancelled;
    await expectUndoneOnce(runOf(point), tagOf(point));
  },
);
