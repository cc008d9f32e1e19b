// An executor that loses every assignment on its way: it registers and renews like any other, but holds no claim.
import { randomUUID } from "node:crypto";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { createGrpcClient } from "@pawl/platform/rpc/grpc-client";
import { WorkerService } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { onTestFinished } from "vitest";
import type { Cluster } from "../support/cluster.ts";
import { EXECUTOR_TOKEN } from "../support/member.ts";
import { until } from "../support/until.ts";

/** Registers with room for one; ends with the test. */
export async function startDeafExecutor(
  cluster: Cluster,
  nodeTypes: readonly string[],
): Promise<{ readonly executorId: string }> {
  const executorId = randomUUID();
  const address = `${LOOPBACK}:${cluster.schedulers[0]?.port ?? 0}`;
  const client = createGrpcClient(WorkerService, address);
  const stream = client.open.work();
  const { promise: registered, resolve } = Promise.withResolvers<void>();
  stream.listen({
    message: ({ items }) => {
      if (items.some(({ item }) => item.case === "registered")) resolve();
    },
  });
  const types = { nodeTypes: [...nodeTypes], token: EXECUTOR_TOKEN };
  const value = { executorId, ...types, slots: 1, description: "deaf" };
  stream.write({ items: [{ item: { case: "register", value } }] });
  await registered;
  let isOver = false;
  const renew = (): boolean => {
    if (!isOver) stream.write({ items: [{ item: { case: "renew", value: { held: [] } } }] });
    return isOver;
  };
  const renewing = until(renew, { what: "the test to end", timeoutMs: 60_000 });
  onTestFinished(async () => {
    isOver = true;
    await renewing;
    stream.end();
    client.close();
  });
  return { executorId };
}
