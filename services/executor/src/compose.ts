// The only place where adapters meet: scheduler client, sandbox, egress, handlers, worker and probes become one service.

import { randomUUID } from "node:crypto";
import type { Running, ServiceContext } from "@pawl/platform/lifecycle/service";
import { WORK_KEEPALIVE_MS, createGrpcClient } from "@pawl/platform/rpc/grpc-client";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { startProbeServer } from "@pawl/platform/telemetry/http";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Telemetry } from "@pawl/platform/telemetry/start";
import { WorkerService } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { ExecutorConfig } from "./config.ts";
import { parseCidrs } from "./egress/address.ts";
import { guardedAgent } from "./egress/connect.ts";
import { DEFAULT_EGRESS, type EgressPolicy } from "./egress/guard.ts";
import { builtInRegistry, type Registry } from "./handlers/registry.ts";
import { attemptRunner } from "./run/attempt.ts";
import { observed, tracedHandlers } from "./run/observed.ts";
import { Sandbox } from "./sandbox/sandbox.ts";
import { Worker } from "./work/worker.ts";

/** Starts an executor; ready as soon as it tries to reach its scheduler. */
export async function compose(
  config: ExecutorConfig,
  telemetry: Telemetry,
  { log }: Pick<ServiceContext, "log">,
): Promise<Running> {
  const policy = egressPolicy(config, log);
  const egress = { policy, agent: guardedAgent(policy) };
  const sandbox = new Sandbox({
    ...(config.PAWL_SANDBOX_PROCESSES === 0 ? {} : { processesMax: config.PAWL_SANDBOX_PROCESSES }),
    interpreted: config.PAWL_ENV === "production",
    onKill: (cause) => METRICS.sandboxKills.add(1, { cause }),
    onLayers: (layers) => log.info({ layers }, "sandbox ready"),
  });
  const registry = builtInRegistry({ sandbox, egress });
  const client = createGrpcClient(WorkerService, config.PAWL_SCHEDULER_ADDRESS, {
    keepaliveMs: WORK_KEEPALIVE_MS,
    retry: false,
  });
  const worker = createWorker(config, {
    registry,
    isTracing: telemetry.isTracing,
    connect: () => client.open.work(),
    log,
  });
  // The first JavaScript node need not wait for a process; nobody else needs to wait for it either.
  sandbox.start().catch((error: unknown) => log.error({ err: error }, "no sandbox"));
  const probes = await startProbeServer({
    host: config.PAWL_METRICS_HOST,
    port: config.PAWL_METRICS_PORT,
    metricsText: () => {
      METRICS.slotsBusy.set(worker.busyCount);
      return telemetry.metricsText();
    },
    notReady: () => (worker.isRegistered ? undefined : "not registered with a scheduler"),
  });
  worker.start();
  return {
    port: probes.port,
    stop: async () => {
      await worker.stop();
      client.close();
      await Promise.all([sandbox.stop(), egress.agent.close(), probes.close()]);
    },
  };
}

function createWorker(
  config: ExecutorConfig,
  parts: {
    readonly registry: Registry;
    readonly isTracing: boolean;
    readonly connect: ConstructorParameters<typeof Worker>[0]["connect"];
    readonly log: Logger;
  },
): Worker {
  const { registry, isTracing } = parts;
  const executorId = config.PAWL_EXECUTOR_ID ?? randomUUID();
  const log = parts.log.child({ executor_id: executorId });
  const worker = new Worker({
    executorId,
    nodeTypes: [...registry.keys()],
    slots: config.PAWL_EXECUTOR_SLOTS,
    graceMs: config.PAWL_EXECUTOR_GRACE_MS,
    description: `pawl executor, node ${process.version}`,
    connect: parts.connect,
    run: observed(attemptRunner(isTracing ? tracedHandlers(registry) : registry), { isTracing }),
    onRegistered: (schedulerId) => log.info({ scheduler_id: schedulerId }, "registered"),
    onDisconnected: (error) => log.debug({ reason: error?.reason }, "disconnected"),
  });
  worker.events.on("job:claim_lost", (event) => log.warn({ job: event.jobId }, "claim lost"));
  worker.events.on("job:dead_letter", (event) => log.debug({ job: event.jobId }, event.error));
  return worker;
}

function egressPolicy(config: ExecutorConfig, log: Logger): EgressPolicy {
  const ranges = config.PAWL_ALLOW_PRIVATE_EGRESS;
  const allowed = parseCidrs(ranges) ?? [];
  if (allowed.length > 0) log.warn({ ranges }, "http nodes may call private addresses");
  return { ...DEFAULT_EGRESS, allowed, httpsOnly: config.PAWL_ENV === "production" };
}
