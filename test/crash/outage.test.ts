// The test kills the scheduler and then the database in the middle of two hundred runs. Every accepted run completes, once.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { afterAll, beforeAll, expect, onTestFailed, test } from "vitest";
import { graph, names } from "../flow/graph.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { startPrivatePostgres, type PrivatePostgres } from "../support/postgres.ts";
import { until } from "../support/until.ts";
import { nodeCounts } from "./node-counts.ts";

const RUNS = 200;

let postgres: PrivatePostgres;
let cluster: Cluster;
let client: PawlClient;

beforeAll(async () => {
  postgres = await startPrivatePostgres();
  cluster = await startCluster({
    databaseUrl: postgres.url,
    // Little room, so that the runs last longer than the crashes.
    envOf: { executor: { PAWL_EXECUTOR_SLOTS: "12" } },
  });
  // An outage lasts as long as a start takes on a busy machine.
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
});
afterAll(async () => {
  await cluster.stop();
  await postgres.stop();
});

const completedCount = async (): Promise<number> =>
  (await client.runs.list({ statuses: [RunStatus.COMPLETED], pageSize: RUNS })).runs.length;

const untilCompleted = (count: number) =>
  until(async () => (await completedCount()) >= count, {
    what: `${count} runs to complete`,
    timeoutMs: 60_000,
  });

test("two hundred runs outlive a killed scheduler and a killed database, and no node is done twice (S0.36, S0.39, S3.37, S3.55)", async () => {
  onTestFailed(() => console.error(cluster.logs()));
  const pause = { type: "text_stream", config: { text: "ab", chunk_chars: 1, interval_ms: 50 } };
  const shape = graph(["start > a > join > end", "start > b > join"], { a: pause, b: pause });
  await client.workflows.create(shape, { workflowId: "outage" });
  const accepted = Promise.all(
    names("run", RUNS).map(async () => (await client.runs.start("outage")).run.runId),
  );
  await untilCompleted(10);
  await cluster.schedulers[0]?.restart();
  const before = await completedCount();
  expect(before).toBeLessThan(RUNS);
  await untilCompleted(Math.min(RUNS, before + 20));
  expect(await completedCount()).toBeLessThan(RUNS);
  await postgres.crash();
  await postgres.restart();
  const runIds = await accepted;
  await untilCompleted(RUNS);
  expect(new Set(runIds).size).toBe(RUNS);
  expect(await checkInvariants(postgres.url, runIds)).toEqual([]);
  // Every node of every run, once.
  const counts = await nodeCounts(postgres.url, "node.completed");
  expect(counts).toEqual({ nodes: RUNS * 5, events: RUNS * 5 });
  // No executor and no gateway ended on the way: only the scheduler was ever restarted.
  for (const member of [...cluster.executors, ...cluster.gateways])
    expect(member.logs().split('"ready"').length - 1, member.name).toBe(1);
});
