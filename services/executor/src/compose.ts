// Connects the executor's adapters with its use cases: scheduler client, sandbox, egress, handlers, worker, host and probes. No other file
// does.

import { randomUUID } from "node:crypto";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { Running } from "@pawl/platform/lifecycle/service";
import { WORK_KEEPALIVE, createGrpcClient } from "@pawl/platform/rpc/grpc-client";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { startProbeServer } from "@pawl/platform/telemetry/http";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Telemetry } from "@pawl/platform/telemetry/start";
import { WorkerService } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { Config } from "./config.ts";
import { parseCidrs } from "@pawl/platform/egress/address";
import { guardedAgent } from "./egress/connect.ts";
import { DEFAULT_EGRESS, type EgressPolicy } from "@pawl/platform/egress/url";
import { pricing } from "./llm/prices.ts";
import { providersOf } from "./llm/providers.ts";
import { httpGateway } from "./checks/http-gateway.ts";
import type { ModerationGateway } from "./checks/moderation.ts";
import { rulesGateway } from "./checks/rules-gateway.ts";
import { builtInRegistry } from "./handlers/built-in.ts";
import type { Registry } from "./handlers/registry.ts";
import { systemClock } from "./host/clock.ts";
import { timesOf } from "./host/limits.ts";
import { serveHost } from "./host/serve.ts";
import { attemptRunner } from "./run/attempt.ts";
import { observed, tracedHandlers } from "./run/observed.ts";
import type { RunAttempt } from "./run/run-attempt.ts";
import { hasRequiredLayers, REQUIRED_LAYERS } from "./sandbox/layers.ts";
import { Sandbox } from "./sandbox/sandbox.ts";
import { openDataSources } from "./sources/data-sources.ts";
import { valueDoor } from "./work/value-door.ts";
import { isRefusal } from "./work/session.ts";
import { webhookCalls } from "./work/webhook-calls.ts";
import { Worker, type WorkerOptions } from "./work/worker.ts";

/** Calls of the moderation service after the first. The node's own retry policy is additional. */
const MODERATION_RETRIES = 2;

interface ExecutorParts {
  readonly log: Logger;
  readonly telemetry: Telemetry;
}

/** Starts an executor. It is ready as soon as it tries to reach its scheduler. */
export async function compose(config: Config, parts: ExecutorParts): Promise<Running> {
  const { log, telemetry } = parts;
  const policy = egressPolicy(config, log);
  const egress = { policy, agent: guardedAgent(policy) };
  const sandbox = new Sandbox({
    ...(config.PAWL_SANDBOX_PROCESSES === 0 ? {} : { processesMax: config.PAWL_SANDBOX_PROCESSES }),
    interpreted: config.PAWL_ENV === "production",
    onKill: (cause) => METRICS.sandboxKills.add(1, { cause }),
    onLayers: (layers) => log.info({ layers }, "sandbox ready"),
  });
  const sources = openDataSources(config.PAWL_DATA_SOURCES);
  const providers = providersOf(config.PAWL_LLM_PROVIDERS, egress);
  const registry = builtInRegistry({ sandbox, egress, providers, sources });
  const client = createGrpcClient(WorkerService, config.PAWL_SCHEDULER_ADDRESS, {
    keepalive: WORK_KEEPALIVE,
  });
  const { isTracing } = telemetry;
  const handlers = isTracing ? tracedHandlers(registry) : registry;
  const moderation = moderationOf(config);
  const price = pricing(config.PAWL_LLM_PRICES, (model) =>
    log.warn({ model }, "PAWL_LLM_PRICES has no price of this model; its cost is unknown"),
  );
  const connect = () => client.open.work();
  const values = { door: valueDoor(client), inlineBytes: config.PAWL_VALUES_INLINE_BYTES };
  const runner = (served: Registry): RunAttempt =>
    observed(attemptRunner(served, moderation, price, values), { isTracing, log });
  const worker = createWorker(config, log, {
    nodeTypes: [...registry.keys()],
    connect,
    run: runner(handlers),
    webhooks: { slots: LIMITS.webhookSlots, open: (send) => webhookCalls(egress, send) },
  });
  await warm(sandbox, config, log);
  const host = await serveHost({
    ...{ connect, log, clock: systemClock, hostId: randomUUID() },
    times: timesOf({
      silenceMs: config.PAWL_HANDLER_SILENCE_MS,
      resumeMs: config.PAWL_HANDLER_RESUME_MS,
    }),
    runner: (served) => runner(isTracing ? tracedHandlers(served) : served),
    graceMs: config.PAWL_EXECUTOR_GRACE_MS,
    address: { host: config.PAWL_HANDLER_HOST, port: config.PAWL_HANDLER_PORT },
    token: config.PAWL_HANDLER_TOKEN,
    allowedHosts: config.PAWL_ALLOWED_HOSTS,
  });
  const probes = await startProbeServer({
    host: config.PAWL_METRICS_HOST,
    port: config.PAWL_METRICS_PORT,
    allowedHosts: config.PAWL_ALLOWED_HOSTS,
    metricsText: () => {
      METRICS.slotsBusy.set(worker.busyCount + host.busyCount());
      return telemetry.metricsText();
    },
    notReady: () => (worker.isRegistered ? undefined : whyUnregistered(worker.refusal)),
  });
  worker.start();
  return {
    port: probes.port,
    stop: async () => {
      await Promise.all([worker.stop(), host.stop()]);
      client.close();
      await Promise.all([sandbox.stop(), egress.agent.close(), sources.end(), probes.close()]);
    },
  };
}

/**
 * Production starts the sandbox's first process with the executor, which refuses to start if a layer is missing. Elsewhere the first node
 * with user code starts it: most local executors run none.
 * @throws INTERNAL
 */
async function warm(sandbox: Sandbox, config: Config, log: Logger): Promise<void> {
  if (config.PAWL_ENV !== "production") return;
  const started = sandbox.start();
  if (config.PAWL_ALLOW_WEAK_SANDBOX) {
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
  config: Config,
  parentLog: Logger,
  work: Pick<WorkerOptions, "nodeTypes" | "connect" | "run" | "webhooks">,
): Worker {
  const executorId = config.PAWL_EXECUTOR_ID ?? randomUUID();
  const log = parentLog.child({ executor_id: executorId });
  const worker = new Worker({
    ...work,
    executorId,
    instanceId: randomUUID(),
    token: config.PAWL_EXECUTOR_TOKEN?.reveal() ?? "",
    capacity: config.PAWL_EXECUTOR_SLOTS,
    graceMs: config.PAWL_EXECUTOR_GRACE_MS,
    description: `pawl executor, node ${process.version}`,
    onRegistered: ({ schedulerId }) => log.info({ scheduler_id: schedulerId }, "registered"),
    // A refusal lasts until a person acts, so it is an error. After a broken connection the executor reconnects by itself.
    onDisconnected: (error) => {
      if (isRefusal(error)) log.error({ reason: error?.reason }, error?.message);
      else log.debug({ reason: error?.reason }, "disconnected");
    },
  });
  worker.events.on("job:claim_lost", (event) => log.warn({ job: event.jobId }, "claim lost"));
  worker.events.on("job:dead_letter", (event) => log.debug({ job: event.jobId }, event.error));
  return worker;
}

const whyUnregistered = (refusal: EngineError | undefined): string =>
  refusal === undefined
    ? "not registered with a scheduler"
    : `the scheduler refuses this executor: ${refusal.message}`;

/** The configured moderation. Without it, a node that asks for moderation fails. */
function moderationOf(config: Config): ModerationGateway | undefined {
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

function egressPolicy(config: Config, log: Logger): EgressPolicy {
  const ranges = config.PAWL_ALLOW_PRIVATE_EGRESS;
  const allowed = parseCidrs(ranges) ?? [];
  if (allowed.length > 0)
    log.warn({ ranges }, "http nodes and webhooks may call private addresses");
  return { ...DEFAULT_EGRESS, allowed, httpsOnly: config.PAWL_ENV === "production" };
}
