// Starts race on one thread from two gateways and two schedulers, and one scheduler is killed among them. The clients repeat their requests.
// Every accepted run ends, one at a time, and the thread has what each of them left.
import {
  createPawlClient,
  jsonOf,
  type Multitask,
  type PawlClient,
  PawlError,
  type WatchThreadOptions,
} from "@pawl/client";
import { ThreadStatus } from "@pawl/proto/pawl/v1/thread_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { graph, names } from "../flow/graph.ts";
import { SAY } from "../flow/turns.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
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

/** Starts fifty runs by turns from both gateways. `onFirst` is called when the first is accepted. */
async function race(multitask: Multitask, onFirst: () => Promise<void>): Promise<string[]> {
  const started = names("start", 50).map(async (input, index) => {
    const from = clients[index % clients.length];
    if (from === undefined) throw new Error("no client");
    const options = { threadId: multitask, createThread: true, input, multitask };
    const { run } = await from.runs.start("turn", {
      ...options,
      requestId: `${multitask}-${input}`,
    });
    return run.runId;
  });
  const settled = Promise.allSettled(started);
  await Promise.any(started);
  await onFirst();
  const outcomes = await settled;
  const refused = outcomes.flatMap((each) => {
    if (each.status === "fulfilled") return [];
    return each.reason instanceof PawlError ? [each.reason.reason] : [String(each.reason)];
  });
  expect(refused.filter((reason) => reason !== "THREAD_BUSY")).toEqual([]);
  return outcomes.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
}

test("fifty starts race on one thread while a scheduler is killed, for each strategy (S4.4, S4.25, S4.27, S4.28, S4.29)", async () => {
  let victim = cluster.schedulers[0];
  for (const multitask of STRATEGIES) {
    const runIds = await race(multitask, async () => {
      await victim?.kill("SIGKILL");
      await victim?.exited();
      victim = await replaceScheduler(cluster);
    });
    if (multitask !== "reject") expect(new Set(runIds).size).toBe(50);
    const [pawl] = clients;
    if (pawl === undefined) throw new Error("no client");
    await Promise.all(runIds.map((runId) => pawl.runs.wait(runId)));
    const thread = await pawl.threads.get(multitask);
    expect(thread).toMatchObject({ status: ThreadStatus.IDLE, runCount: BigInt(runIds.length) });
    const state = await pawl.threads.state(multitask);
    const { said = [] } = jsonOf(state.memoryJson) as { said?: string[] };
    expect(new Set(said).size).toBe(said.length);
    if (multitask === "enqueue") expect(said).toHaveLength(50);
    expect(await checkInvariants(cluster.databaseUrl), multitask).toEqual([]);
  }
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
