// Connects the gateway's adapters with its use cases. No other file does.

import { priceTable } from "@pawl/core/policy/price";
import { schemasOf } from "@pawl/platform/config/settings";
import { openArchive } from "@pawl/platform/archive/open";
import { openBlobs } from "@pawl/platform/values/open";
import { openPool } from "@pawl/platform/db/pool";
import { readSecret } from "@pawl/platform/db/secrets";
import type { Running } from "@pawl/platform/lifecycle/service";
import { OccurrenceThread } from "@pawl/platform/queue/occurrences";
import { connectErrors, connectTracing } from "@pawl/platform/rpc/connect";
import { type OnInternal, toConnectError } from "@pawl/platform/rpc/status";
import type { LogCursor } from "@pawl/platform/store/log/log";
import { readEventsOfMany } from "@pawl/platform/store/log/reads";
import { readPresent, readTurns } from "@pawl/platform/store/threads/reads";
import type { ThreadKey } from "@pawl/platform/store/threads/threads";
import { getDefinition } from "@pawl/platform/store/workflows/reads";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { answerProbe } from "@pawl/platform/telemetry/http";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Telemetry } from "@pawl/platform/telemetry/start";
import { WakeListener } from "@pawl/platform/wake/listen";
import { Health } from "@pawl/proto/grpc/health/v1/health_pb";
import { ApprovalService } from "@pawl/proto/pawl/v1/approval_service_pb";
import { ArchiveService } from "@pawl/proto/pawl/v1/archive_service_pb";
import { AssistantService } from "@pawl/proto/pawl/v1/assistant_service_pb";
import { BulkService } from "@pawl/proto/pawl/v1/bulk_service_pb";
import { EventService } from "@pawl/proto/pawl/v1/event_service_pb";
import { NodeTypeService } from "@pawl/proto/pawl/v1/node_type_service_pb";
import { QueueService } from "@pawl/proto/pawl/v1/queue_service_pb";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { ThreadService } from "@pawl/proto/pawl/v1/thread_service_pb";
import { ScheduleService } from "@pawl/proto/pawl/v1/schedule_service_pb";
import { WebhookService } from "@pawl/proto/pawl/v1/webhook_service_pb";
import { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";
import type { Config } from "./config.ts";
import { createConsole } from "./http/console.ts";
import { createGrpcHandler } from "./http/grpc/handler.ts";
import { createHealth, watchReady } from "./http/health.ts";
import { connectJsonForm } from "./http/json-form.ts";
import { REFLECTIONS } from "@pawl/platform/rpc/reflection";
import { createReflection } from "./http/reflection.ts";
import { refuse as refuseWith } from "./http/refuse.ts";
import { createRpcHandler } from "./http/rpc-handler.ts";
import { EdgeServer } from "./http/server.ts";
import { createSse } from "./http/sse.ts";
import { DefinitionCache } from "./read/definition-cache.ts";
import { PageSeal } from "./read/page-seal.ts";
import { createRunReader } from "./read/run-reader.ts";
import { Seal } from "./read/seal.ts";
import { createThreadCursors } from "./read/thread-cursor.ts";
import { type Refuse, served, type Served } from "./request/exchange.ts";
import { connectScheduler } from "./request/forward.ts";
import { startStatsReporter } from "./report-stats.ts";
import { createApprovalService } from "./rpc/approval-service.ts";
import { createArchiveService } from "./rpc/archive-service.ts";
import { createAssistantService } from "./rpc/assistant-service.ts";
import { createBulkService } from "./rpc/bulk-service.ts";
import { createEventService } from "./rpc/event-service.ts";
import { createNodeTypeService } from "./rpc/node-type-service.ts";
import { createQueueService } from "./rpc/queue-service.ts";
import { createRunService } from "./rpc/run-service.ts";
import { createScheduleService } from "./rpc/schedule-service.ts";
import { createWebhookService } from "./rpc/webhook-service.ts";
import { createThreadService } from "./rpc/thread-service.ts";
import type { ServiceParts } from "./rpc/service-parts.ts";
import { createWorkflowService } from "./rpc/workflow-service.ts";
import { coalesce } from "./watch/coalesce.ts";
import { Fanout, FANOUT_DEFAULTS } from "./watch/fanout.ts";
import { ThreadHub } from "./watch/thread-hub.ts";
import { type Watch, WATCH_DEFAULTS, watchRun } from "./watch/watch-run.ts";
import { watchThread } from "./watch/watch-thread.ts";

/** How many runs of a thread one read returns. */
const TURNS_PER_READ = 32;
/** How many events of a log one read returns. A read of many tails returns as many of each. */
const EVENTS_PER_READ = 128;
const REPLAYS_PER_READ = 32;

interface GatewayParts {
  readonly log: Logger;
  readonly telemetry: Pick<Telemetry, "metricsText">;
}

/** Starts everything. The gateway serves when this settles. */
export async function compose(config: Config, { log, telemetry }: GatewayParts): Promise<Running> {
  const { fanout, wake, occurrences, ...parts } = await openParts(config);
  const { pool, scheduler } = parts;
  const ready = watchReady(pool, scheduler, log);
  const onInternal: OnInternal = ({ requestId, error }) => {
    METRICS.internalFaults.add(1, {});
    log.error({ request_id: requestId, err: error }, "internal error");
  };
  const refuse: Refuse = (request, response, error, httpStatus) =>
    refuseWith(request, response, toConnectError(error, onInternal), httpStatus);
  const services = servicesOf(
    { ...parts, fanout, occurrences, onInternal },
    ready,
    config.PAWL_REFLECTION,
  );
  const probes = { ...ready, metricsText: () => telemetry.metricsText() };
  const server = new EdgeServer({
    guard: {
      allowedHosts: new Set(config.PAWL_ALLOWED_HOSTS),
      allowedOrigins: new Set(config.PAWL_ALLOWED_ORIGINS),
    },
    handlers: [
      (request, response) => answerProbe(probes, request, response),
      createSse({ ...parts, refuse }),
      createGrpcHandler(services, onInternal),
      createRpcHandler({
        services,
        interceptors: [connectTracing, connectErrors(onInternal), connectJsonForm],
        refuse,
        onBroken: (method, error) => log.debug({ method, err: error }, "a connection broke"),
      }),
      createConsole(),
    ],
    refuse,
  });
  fanout.start();
  wake.start();
  const stopReports = startStatsReporter(
    { pool, scheduler, fanout, wake, log, streamsMax: config.PAWL_SUBSCRIBERS_MAX },
    config.PAWL_STATS_MS,
  );
  const port = await server.listen(config.PAWL_GATEWAY_HOST, config.PAWL_GATEWAY_PORT);
  return {
    port,
    stop: async () => {
      ready.drain();
      stopReports();
      fanout.stop();
      await server.close(Math.max(0, config.PAWL_DRAIN_MS - 1_000));
      await wake.stop();
      scheduler.close();
      await occurrences.stop();
      await pool.end();
    },
  };
}

/** The parts of the services, and the sources that feed them. */
async function openParts(config: Config) {
  const url = config.DATABASE_URL.reveal();
  const pool = openPool(url, {
    max: config.PAWL_DB_POOL_SIZE,
    name: "pawl-gateway",
    schemas: schemasOf(config),
  });
  const opened = Promise.all([openBlobs(config, pool), openArchive(config)]);
  const [blobs, archive] = await opened.catch(async (error: unknown) => {
    await pool.end();
    throw error;
  });
  const readMany = (cursors: readonly LogCursor[]) =>
    readEventsOfMany(pool, cursors, EVENTS_PER_READ);
  const hub = new ThreadHub((places) => readTurns(pool, places, TURNS_PER_READ));
  const fanout = new Fanout({
    ...FANOUT_DEFAULTS,
    onPoll: () => hub.pollAll(),
    pollMs: config.PAWL_POLL_MS,
    subscribersMax: config.PAWL_SUBSCRIBERS_MAX,
    readMany,
  });
  const wake = new WakeListener(url, {
    onRun: (runId, lastSeq, ended) => fanout.notify(runId, lastSeq, ended),
    onEnd: (event) => fanout.ended(event),
    onThread: (threadId) => hub.notify(threadId),
    onAll: () => fanout.pollAll(),
    onListening: (isListening) => fanout.setListening(isListening),
  });
  const definitions = new DefinitionCache((id) => getDefinition(pool, id));
  const reader = createRunReader(pool, definitions);
  const readPage = coalesce({
    load: readMany,
    maxKeys: REPLAYS_PER_READ,
    nameOf: ({ runId, afterSeq }: LogCursor) => `${runId} ${afterSeq}`,
  });
  const watching = { ...WATCH_DEFAULTS, fanout, findRun: reader.findRun, readPage };
  const watch: Watch = (request) => watchRun(watching, request);
  const scheduler = connectScheduler(config.PAWL_SCHEDULER_ADDRESS);
  const seal = new Seal(() => readSecret(pool, "page_tokens"));
  const pages = new PageSeal(seal);
  const cursors = createThreadCursors(seal);
  const readPresentOf = (key: ThreadKey) => readPresent(pool, key);
  const following = { watch, reader, fanout, hub, readPresent: readPresentOf };
  const watchingThread = { ...WATCH_DEFAULTS, ...following, textOf: cursors.textOf };
  const streams: Pick<ServiceParts, "watch" | "watchThread" | "cursors" | "seal"> = {
    ...{ watch, cursors, seal },
    watchThread: (request) => watchThread(watchingThread, request),
  };
  const occurrences = new OccurrenceThread();
  return {
    pool,
    blobs,
    archive,
    fanout,
    wake,
    definitions,
    reader,
    ...streams,
    scheduler,
    priceOf: priceTable(config.PAWL_LLM_PRICES),
    pages,
    occurrences,
  };
}

/** Every service, in one list for both RPC handlers. Health and reflection describe the services of the same list. */
function servicesOf(
  parts: ServiceParts,
  { notReady }: ReturnType<typeof watchReady>,
  hasReflection: boolean,
): readonly Served[] {
  const services = [
    served(WorkflowService, createWorkflowService(parts)),
    served(RunService, createRunService(parts)),
    served(EventService, createEventService(parts)),
    served(ScheduleService, createScheduleService(parts)),
    served(WebhookService, createWebhookService(parts)),
    served(AssistantService, createAssistantService(parts)),
    served(ThreadService, createThreadService(parts)),
    served(ApprovalService, createApprovalService(parts)),
    served(QueueService, createQueueService(parts)),
    served(NodeTypeService, createNodeTypeService(parts)),
    served(BulkService, createBulkService(parts)),
    served(ArchiveService, createArchiveService(parts)),
  ];
  const names = services.map(({ service }) => service);
  services.push(served(Health, createHealth(notReady, names)));
  if (hasReflection) {
    const reflection = createReflection([...names, Health, ...REFLECTIONS]);
    for (const service of REFLECTIONS) services.push(served(service, reflection));
  }
  return services;
}
