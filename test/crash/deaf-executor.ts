// An executor that loses every assignment on its way: it registers and renews like any other, but holds nothing.
import { randomUUID } from "node:crypto";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { createGrpcClient } from "@pawl/platform/rpc/grpc-client";
import { WorkerService } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { onTestFinished } from "vitest";
import type { Cluster } from "../support/cluster.ts";

/** A registered one. */
export type DeafExecutor = { readonly executorId: string; hangUp(): void };

const RENEW_MS = 300;

/** Registers with room for one; ends with the test. */
export async function startDeafExecutor(
  cluster: Cluster,
  nodeTypes: readonly string[],
): Promise<DeafExecutor> {
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
  const value = { executorId, nodeTypes: [...nodeTypes], slots: 1, description: "deaf" };
  stream.write({ items: [{ item: { case: "register", value } }] });
  await registered;
  const renewal = setInterval(() => {
    stream.write({ items: [{ item: { case: "renew", value: { held: [] } } }] });
  }, RENEW_MS);
  const hangUp = (): void => {
    clearInterval(renewal);
    stream.end();
    client.close();
  };
  onTestFinished(hangUp);
  return { executorId, hangUp };
}
