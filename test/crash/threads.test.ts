// Starts race on one thread from two gateways and two schedulers, and one scheduler is killed among them. The clients repeat their requests.
// Every accepted run ends, one at a time, and the thread has what each of them left.
import {
  createPawlClient,
  type Multitask,
  type PawlClient,
  type WatchThreadOptions,
} from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { graph, names } from "../flow/graph.ts";
import { raceOnThread } from "../flow/thread-race.ts";
import { SAY } from "../flow/turns.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";
import { replaceScheduler } from "./processes.ts";

let cluster: Cluster;
let clients: readonly PawlClient[];

beforeAll(async () => {
  cluster = await startCluster({
    schedulers: 2,
    gateways: 2,
    envOf: { scheduler: { PAWL_GRACE_MS: "200" } },
  });
  clients = cluster.gateways.map(({ port }) =>
    createPawlClient({ baseUrl: `http://127.0.0.1:${port}`, attempts: 30 }),
  );
  await clients[0]?.workflows.create(graph(["start > say > end"], { say: SAY }), {
    workflowId: "turn",
  });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(() => cluster.stop());

const STRATEGIES: readonly Multitask[] = ["reject", "enqueue", "interrupt", "rollback"];

test("fifty starts race on one thread while a scheduler is killed, for each strategy (S4.4, S4.25, S4.27, S4.28, S4.29)", async () => {
  let victim = cluster.schedulers[0];
  for (const multitask of STRATEGIES)
    await raceOnThread(clients, cluster.databaseUrl, multitask, async () => {
      await victim?.kill("SIGKILL");
      await victim?.exited();
      victim = await replaceScheduler(cluster);
    });
});

test("a watcher has every event of a thread once and in order while gateways are killed and runs are enqueued, interrupted and rolled back (S4.41)", async () => {
  const addresses = cluster.gateways.map(({ port }) => `http://127.0.0.1:${port}`);
  const pawl = createPawlClient({ baseUrl: addresses, attempts: 30 });
  const threadId = "watched";
  await pawl.threads.create(threadId);
  const watch = async (seen: string[], options: WatchThreadOptions): Promise<void> => {
    for await (const { event } of pawl.watchThread(threadId, options))
      seen.push(`${event.runId} ${event.eventId}`);
  };
  const left = new AbortController();
  const live: string[] = [];
  const watching = watch(live, { signal: left.signal });
  const runIds: string[] = [];
  for (const [round, multitask] of (
    ["enqueue", "interrupt", "rollback", "enqueue"] as const
  ).entries()) {
    const start = async (input: string): Promise<void> => {
      const { run } = await pawl.runs.start("turn", { threadId, input, multitask });
      runIds.push(run.runId);
    };
    await Promise.all(names(`round-${round}`, 4).map(start));
    const gateway = cluster.gateways[round % 2];
    await gateway?.kill("SIGKILL");
    await start("while a gateway is away");
    await gateway?.restart();
  }
  await Promise.all(runIds.map((runId) => pawl.runs.wait(runId)));
  const whole: string[] = [];
  await watch(whole, { untilIdle: true });
  await until(() => live.length >= whole.length, { what: "every event" });
  left.abort();
  await watching;
  expect(live).toEqual(whole);
  const runs = await Promise.all(runIds.map(async (runId) => (await pawl.runs.get(runId)).run));
  const log = runs.flatMap(({ runId, lastEventId }) =>
    Array.from({ length: Number(lastEventId) }, (_, index) => `${runId} ${index + 1}`),
  );
  expect(live.toSorted()).toEqual(log.toSorted());
  // A run begins after the end of the run before it.
  const changes = live.filter((what, at) => live[at - 1]?.slice(0, 36) !== what.slice(0, 36));
  expect(changes).toHaveLength(runIds.length);
  pawl.close();
});
