// An executor that reads nothing off its stream. The messages that wait for it are bounded and stay its own while it renews. They cost no
// delivery when its connection breaks, since they were never sent.
import { randomUUID } from "node:crypto";
import { createPawlClient } from "@pawl/client";
import { LIMITS } from "@pawl/core/data/limits";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { createGrpcClient } from "@pawl/platform/rpc/grpc-client";
import { WorkerService } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { graph, names, script } from "../flow/graph.ts";
import { storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { completed, connectExecutor, TASK } from "../wire/fake-executor.ts";

const WIDTH = 40;
const CONTEXT_BYTES = 7 * 250_000;

/** Registers, reads no further and renews for as long as it is not cut off. */
async function startStuckExecutor(cluster: Cluster) {
  const executorId = randomUUID();
  const client = createGrpcClient(WorkerService, addressOf(cluster));
  const stream = client.open.work();
  const { promise: registered, resolve } = Promise.withResolvers<void>();
  stream.listen({ message: () => resolve() });
  const value = { executorId, nodeTypes: [TASK], slots: WIDTH, description: "stuck" };
  stream.write({ items: [{ item: { case: "register", value } }] });
  await registered;
  stream.pause();
  let isOver = false;
  const renew = (): boolean => {
    if (!isOver) stream.write({ items: [{ item: { case: "renew", value: { held: [] } } }] });
    return isOver;
  };
  const renewing = until(renew, { what: "the executor to be cut off", timeoutMs: 60_000 });
  const cut = async (): Promise<void> => {
    isOver = true;
    await renewing;
    stream.fail(new Error("cut off"));
    client.close();
  };
  onTestFinished(cut);
  return { executorId, cut };
}

const addressOf = (cluster: Cluster): string => `${LOOPBACK}:${cluster.schedulers[0]?.port ?? 0}`;

test("the assignments that wait for an executor that reads nothing are bounded, and go to another without a lost delivery (X10)", async () => {
  await using cluster = await startCluster();
  const client = createPawlClient({ baseUrl: cluster.url });
  const db = new Client({ connectionString: cluster.databaseUrl });
  await db.connect();
  // It ends before the cluster's database does.
  await using closing = new AsyncDisposableStack();
  closing.defer(() => db.end());
  const stuck = await startStuckExecutor(cluster);
  const parents = names("p", 7);
  const big = script('return "x".repeat(250_000)');
  const items = Array.from({ length: WIDTH }, (_, index) => index);
  const each = { type: "map", config: { items, body: { type: TASK }, parallelism: WIDTH } };
  const { run } = await client.runs.test(
    graph(
      parents.map((id) => `start > ${id} > each`),
      { ...Object.fromEntries(parents.map((id) => [id, big])), each },
    ),
  );
  const held = async (olderThan: string): Promise<number> => {
    const { rows } = await db.query<{ count: number }>(
      "select count(*)::int as count from pawl.leases where executor_id = $1 and leased_at < now() - $2::interval",
      [stuck.executorId, olderThan],
    );
    return rows[0]?.count ?? 0;
  };
  // Longer than an assignment may be on its way, with many renewals that do not name it.
  const waiting = await until(() => held("4 seconds"), { what: "old leases" });
  expect(waiting * CONTEXT_BYTES).toBeLessThanOrEqual(LIMITS.unsentBytes + 2 * LIMITS.contextBytes);
  await stuck.cut();
  const other = connectExecutor(addressOf(cluster));
  await other.register({ slots: WIDTH });
  const done = new Set<bigint>();
  const work = (): boolean => {
    other.say({ case: "renew", value: { held: [] } });
    for (const { claim } of other.heard("assignment"))
      if (claim !== undefined && !done.has(claim.epoch)) {
        done.add(claim.epoch);
        other.say(completed(claim));
      }
    return done.size >= WIDTH && other.heard("settled").length >= WIDTH;
  };
  await until(work, { what: "every iteration to be settled" });
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  const recovered = story.of("run.recovered").map(({ payload }) => JSON.stringify(payload));
  expect(recovered).toHaveLength(waiting);
  // gRPC may have taken one message off the stream before the executor stopped reading.
  expect(recovered.filter((text) => !text.includes("released")).length).toBeLessThanOrEqual(1);
  expect(await checkInvariants(cluster.databaseUrl, [run.runId])).toEqual([]);
  await other.leave();
});
