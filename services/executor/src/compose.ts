// The only place where the parts meet: scheduler client, sandbox, egress, handlers, worker and probes become one service.

import { randomUUID } from "node:crypto";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { Running, ServiceContext } from "@pawl/platform/lifecycle/service";
import { WORK_KEEPALIVE, createGrpcClient } from "@pawl/platform/rpc/grpc-client";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { startProbeServer } from "@pawl/platform/telemetry/http";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Telemetry } from "@pawl/platform/telemetry/start";
import { WorkerService } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { ExecutorConfig } from "./config.ts";
import { parseCidrs } from "./egress/address.ts";
import { guardedAgent } from "./egress/connect.ts";
import { DEFAULT_EGRESS, type EgressPolicy } from "./egress/guard.ts";
import { providersOf } from "./llm/providers.ts";
import { httpGateway } from "./checks/http-gateway.ts";
import type { ModerationGateway } from "./checks/moderation.ts";
import { rulesGateway } from "./checks/rules-gateway.ts";
import { builtInRegistry, type Registry } from "./handlers/registry.ts";
import { attemptRunner } from "./run/attempt.ts";
import { observed, tracedHandlers } from "./run/observed.ts";
import { hasRequiredLayers, REQUIRED_LAYERS } from "./sandbox/layers.ts";
import { Sandbox } from "./sandbox/sandbox.ts";
import { openDataSources } from "./sources/data-sources.ts";
import { isRefusal } from "./work/session.ts";
import { Worker } from "./work/worker.ts";

/** Calls of the moderation service beyond the first; the node's own retry policy comes on top. */
const MODERATION_RETRIES = 2;

/** Starts an executor; it is ready as soon as it tries to reach its scheduler. */
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
  const sources = openDataSources(config.PAWL_DATA_SOURCES);
  const registry = builtInRegistry({
    sandbox,
    egress,
    providers: providersOf(config.PAWL_LLM_PROVIDERS, egress),
    sources,
  });
  const client = createGrpcClient(WorkerService, config.PAWL_SCHEDULER_ADDRESS, {
    keepalive: WORK_KEEPALIVE,
    retry: false,
  });
  const worker = createWorker(config, {
    registry,
    isTracing: telemetry.isTracing,
    moderation: moderationOf(config),
    connect: () => client.open.work(),
    log,
  });
  await warm(sandbox, config, log);
  const probes = await startProbeServer({
    host: config.PAWL_METRICS_HOST,
    port: config.PAWL_METRICS_PORT,
    allowedHosts: config.PAWL_ALLOWED_HOSTS,
    metricsText: () => {
      METRICS.slotsBusy.set(worker.busyCount);
      return telemetry.metricsText();
    },
    notReady: () => (worker.isRegistered ? undefined : whyUnregistered(worker.refusal)),
  });
  worker.start();
  return {
    port: probes.port,
    stop: async () => {
      await worker.stop();
      client.close();
      await Promise.all([sandbox.stop(), egress.agent.close(), sources.end(), probes.close()]);
    },
  };
}

/**
 * Starts the sandbox's first process. Only production waits for it, and does not start if a layer is missing.
 * @throws INTERNAL
 */
async function warm(sandbox: Sandbox, config: ExecutorConfig, log: Logger): Promise<void> {
  const started = sandbox.start();
  if (config.PAWL_ENV !== "production" || config.PAWL_ALLOW_WEAK_SANDBOX) {
    started.catch((error: unknown) => log.error({ err: error }, "no sandbox"));
    return;
  }
  const layers = await started;
  if (hasRequiredLayers(layers)) return;
  await sandbox.stop();
  const message = `the sandbox has only the layers "${layers}" here, not "${REQUIRED_LAYERS}"; run the executor as root with unshare and setpriv, or set PAWL_ALLOW_WEAK_SANDBOX=true`;
  throw new EngineError("INTERNAL", message);
}

function createWorker(
  config: ExecutorConfig,
  parts: {
    readonly registry: Registry;
    readonly isTracing: boolean;
    readonly moderation: ModerationGateway | undefined;
    readonly connect: ConstructorParameters<typeof Worker>[0]["connect"];
    readonly log: Logger;
  },
): Worker {
  const { registry, isTracing, moderation } = parts;
  const attempt = attemptRunner(isTracing ? tracedHandlers(registry) : registry, moderation);
  const executorId = config.PAWL_EXECUTOR_ID ?? randomUUID();
  const log = parts.log.child({ executor_id: executorId });
  const worker = new Worker({
    executorId,
    instanceId: randomUUID(),
    token: config.PAWL_EXECUTOR_TOKEN?.reveal() ?? "",
    nodeTypes: [...registry.keys()],
    capacity: config.PAWL_EXECUTOR_SLOTS,
    graceMs: config.PAWL_EXECUTOR_GRACE_MS,
    description: `pawl executor, node ${process.version}`,
    connect: parts.connect,
    run: observed(attempt, { isTracing }),
    onRegistered: (schedulerId) => log.info({ scheduler_id: schedulerId }, "registered"),
    onDisconnected: (error) => reportEnd(log, error),
  });
  worker.events.on("job:claim_lost", (event) => log.warn({ job: event.jobId }, "claim lost"));
  worker.events.on("job:dead_letter", (event) => log.debug({ job: event.jobId }, event.error));
  return worker;
}

/** A refusal lasts until a person acts, so it is logged loudly; the executor reconnects by itself after a broken connection. */
function reportEnd(log: Logger, error: EngineError | undefined): void {
  if (isRefusal(error)) log.error({ reason: error?.reason }, error?.message);
  else log.debug({ reason: error?.reason }, "disconnected");
}

const whyUnregistered = (refusal: EngineError | undefined): string =>
  refusal === undefined
    ? "not registered with a scheduler"
    : `the scheduler refuses this executor: ${refusal.message}`;

/** The configured moderation; without any, a node that asks for moderation fails. */
function moderationOf(config: ExecutorConfig): ModerationGateway | undefined {
  const { PAWL_MODERATION_RULES: rules, PAWL_MODERATION_URL: url } = config;
  if (rules !== undefined) return rulesGateway(rules);
  if (url === undefined) return undefined;
  return httpGateway({
    url,
    timeoutMs: config.PAWL_MODERATION_TIMEOUT_MS,
    retries: MODERATION_RETRIES,
    windowChars: config.PAWL_MODERATION_WINDOW_CHARS,
  });
}

function egressPolicy(config: ExecutorConfig, log: Logger): EgressPolicy {
  const ranges = config.PAWL_ALLOW_PRIVATE_EGRESS;
  const allowed = parseCidrs(ranges) ?? [];
  if (allowed.length > 0) log.warn({ ranges }, "http nodes may call private addresses");
  return { ...DEFAULT_EGRESS, allowed, httpsOnly: config.PAWL_ENV === "production" };
}
