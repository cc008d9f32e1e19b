// Starts race on one thread from two gateways and two schedulers, and one scheduler is killed among them. The clients repeat their requests.
// Every accepted run ends, one at a time, and the thread has what each of them left.
import { createPawlClient, jsonOf, type Multitask, type PawlClient, PawlError } from "@pawl/client";
import { ThreadStatus } from "@pawl/proto/pawl/v1/thread_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { graph, names, script } from "../flow/graph.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { failpoints, replaceScheduler } from "./processes.ts";

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
  const say = script("return [...(ctx.memory.said ?? []), ctx.input]", {
    write_key: "said",
    read_keys: ["said"],
  });
  await clients[0]?.workflows.create(graph(["start > say > end"], { say }), {
    workflowId: "turn",
  });
  await cluster.schedulers[0]?.kill("SIGKILL");
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(() => cluster.stop());

test.each<Multitask>(["reject", "enqueue", "interrupt", "rollback"])(
  "fifty starts race on one thread while a scheduler is killed: %s (S4.4, S4.25)",
  async (multitask) => {
    const point =
      multitask === "enqueue" ? "tick.after-commit@2=kill" : "tick.before-commit@2=kill";
    const doomed = await replaceScheduler(cluster, failpoints(point));
    const threadId = `killed-${multitask}`;
    const started = names("start", 50).map(async (text, index) => {
      const from = clients[index % clients.length];
      const options = { threadId, createThread: true, input: text, multitask };
      return (await from?.runs.start("turn", { ...options, requestId: `${multitask}-${text}` }))
        ?.run;
    });
    const settled = Promise.allSettled(started);
    expect(await doomed.exited()).toBe("SIGKILL");
    const again = await replaceScheduler(cluster);
    const outcomes = await settled;
    const refused = outcomes.flatMap((each) =>
      each.status === "rejected" && each.reason instanceof PawlError ? [each.reason.reason] : [],
    );
    expect(refused.filter((reason) => reason !== "THREAD_BUSY")).toEqual([]);
    const runIds = outcomes.flatMap((each) =>
      each.status === "fulfilled" ? (each.value?.runId ?? []) : [],
    );
    if (multitask !== "reject") expect(new Set(runIds).size).toBe(50);
    await Promise.all(runIds.map((runId) => clients[0]?.runs.wait(runId)));
    const thread = await clients[0]?.threads.get(threadId);
    expect(thread).toMatchObject({ status: ThreadStatus.IDLE, runCount: BigInt(runIds.length) });
    const state = await clients[0]?.threads.state(threadId);
    const { said = [] } = jsonOf(state?.memoryJson ?? new Uint8Array()) as { said?: string[] };
    expect(new Set(said).size).toBe(said.length);
    if (multitask === "enqueue") expect(said).toHaveLength(50);
    expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
    await again.kill("SIGKILL");
  },
  120_000,
);
