// Starts race on one thread from two gateways and two schedulers, and one scheduler is killed among them. The clients repeat their requests.
// Every accepted run ends, one at a time, and the thread has what each of them left.
import { createPawlClient, jsonOf, type Multitask, type PawlClient, PawlError } from "@pawl/client";
import { ThreadStatus } from "@pawl/proto/pawl/v1/thread_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { graph, names } from "../flow/graph.ts";
import { SAY } from "../flow/turns.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
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
