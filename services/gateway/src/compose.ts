// The only place where the gateway's adapters meet its use cases.

import { approvalRules } from "@pawl/core/definition/approval-config";
import { EngineError } from "@pawl/core/fault/engine-error";
import { executionDefinition } from "@pawl/core/log/execution";
import type { RunId } from "@pawl/core/name/ids";
import { schemasOf } from "@pawl/platform/config/settings";
import { openPool, type Pool } from "@pawl/platform/db/pool";
import type { Running } from "@pawl/platform/lifecycle/service";
import { OccurrenceThread } from "@pawl/platform/queue/occurrences";
import { connectErrors, connectTracing } from "@pawl/platform/rpc/connect";
import { type OnInternal, toConnectError, toEngineError } from "@pawl/platform/rpc/status";
import type { ApprovalRecord } from "@pawl/platform/store/approvals/approvals";
import { getApproval } from "@pawl/platform/store/approvals/reads";
import { getDefinition, getWorkflow } from "@pawl/platform/store/workflows/reads";
import { readEvents, readEventsOfMany } from "@pawl/platform/store/log/reads";
import { getRuns } from "@pawl/platform/store/runs/reads";
import { getSchedule } from "@pawl/platform/store/schedules/reads";
import { readTags } from "@pawl/platform/store/log/reads";
import { servedTypes } from "@pawl/platform/store/leases/reads";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { readWaitingRoom } from "@pawl/platform/store/survey/reads";
import type { RoomQuestion } from "@pawl/platform/store/survey/survey";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { answerProbe } from "@pawl/platform/telemetry/http";
import type { Logger } from "@pawl/platform/telemetry/log";
import { WakeListener } from "@pawl/platform/wake/listen";
import { Health } from "@pawl/proto/grpc/health/v1/health_pb";
import { ServerReflection } from "@pawl/proto/grpc/reflection/v1/reflection_pb";
import { EventService } from "@pawl/proto/pawl/v1/event_service_pb";
import { ApprovalService } from "@pawl/proto/pawl/v1/approval_service_pb";
import { QueueService } from "@pawl/proto/pawl/v1/queue_service_pb";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { ScheduleService } from "@pawl/proto/pawl/v1/schedule_service_pb";
import { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";
import { createQueues } from "./compose-queues.ts";
import type { GatewayConfig } from "./config.ts";
import { createConsole } from "./http/console.ts";
import type { EdgeHandler, EdgeRequest, EdgeResponse } from "./request/exchange.ts";
import { createGrpcHandler, served } from "./http/grpc-handler.ts";
import { createHealth } from "./http/health.ts";
import { connectJsonForm } from "./http/json-form.ts";
import { createReflection } from "./http/reflection.ts";
import { refuse as refuseWith } from "./http/refuse.ts";
import { createRpcHandler } from "./http/rpc-handler.ts";
import { EdgeServer } from "./http/server.ts";
import { createSse } from "./http/sse.ts";
import { type ReadyWatch, watchReady } from "./http/watch-ready.ts";
import { coalesce } from "./watch/coalesce.ts";
import { DefinitionCache } from "./read/definition-cache.ts";
import { explain } from "./read/explainer.ts";
import { createLists } from "./read/lists.ts";
import { unstoredResultsOf } from "./read/unstored-results.ts";
import { createRunReader } from "./read/run-reader.ts";
import { createApprovalService } from "./rpc/approval-service.ts";
import { createEventService } from "./rpc/event-service.ts";
import { connectScheduler, type Scheduler } from "./request/forward.ts";
import { createRunService } from "./rpc/run-service.ts";
import { createScheduleService } from "./rpc/schedule-service.ts";
import { createWorkflowService } from "./rpc/workflow-service.ts";
import { Fanout, FANOUT_DEFAULTS } from "./watch/fanout.ts";
import { WATCH_DEFAULTS, type WatchDeps, watchRun } from "./watch/watch-run.ts";

const SERVICES = [
  WorkflowService,
  RunService,
  EventService,
  ScheduleService,
  ApprovalService,
  QueueService,
] as const;
/** Events a log gives to one read; a tail of many runs reads as many of each. */
const EVENTS_PER_READ = 128;
const REPLAYS_PER_READ = 32;

export interface ComposeOptions {
  readonly config: GatewayConfig;
  readonly log: Logger;
  readonly metricsText: () => Promise<string>;
}

/** Starts everything; serves when it settles. */
export async function compose({ config, log, metricsText }: ComposeOptions): Promise<Running> {
  const url = config.DATABASE_URL.reveal();
  const schemas = schemasOf(config);
  const pool = openPool(url, { max: config.PAWL_DB_POOL_SIZE, name: "pawl-gateway", schemas });
  const scheduler = connectScheduler(config.PAWL_SCHEDULER_ADDRESS);
  const fanout = new Fanout({
    ...FANOUT_DEFAULTS,
    pollMs: config.PAWL_POLL_MS,
    subscribersMax: config.PAWL_SUBSCRIBERS_MAX,
    readMany: (cursors) => readEventsOfMany(pool, cursors, EVENTS_PER_READ),
  });
  const occurrences = new OccurrenceThread();
  const ready = watchReady({ pool, scheduler, log });
  const wake = new WakeListener(url, {
    onRun: (runId, lastSeq, ended) => fanout.hint(runId, lastSeq, ended),
    onEnd: (event) => fanout.ended(event),
    onAll: () => fanout.pokeAll(),
    onListening: (isListening) => fanout.setHints(isListening),
  });
  const onInternal: OnInternal = ({ requestId, error }) => {
    METRICS.internalFaults.add(1, {});
    log.error({ request_id: requestId, err: error }, "internal error");
  };
  const refuse = (
    request: EdgeRequest,
    response: EdgeResponse,
    error: unknown,
    httpStatus?: number,
  ): void => refuseWith(request, response, toConnectError(error, onInternal), httpStatus);
  const server = new EdgeServer({
    guard: {
      allowedHosts: new Set(config.PAWL_ALLOWED_HOSTS),
      allowedOrigins: new Set(config.PAWL_ALLOWED_ORIGINS),
    },
    handlers: handlers({
      config,
      log,
      metricsText,
      pool,
      scheduler,
      fanout,
      occurrences,
      ready,
      refuse,
      onInternal,
    }),
    refuse,
    notFound: new EngineError("UNKNOWN_METHOD", "There is nothing here."),
  });
  fanout.start();
  wake.start();
  const port = await server.listen(config.PAWL_GATEWAY_HOST, config.PAWL_GATEWAY_PORT);
  return {
    port,
    stop: async () => {
      ready.drain();
      fanout.stop();
      await server.close(Math.max(0, config.PAWL_DRAIN_MS - 1_000));
      await wake.stop();
      scheduler.close();
      await occurrences.stop();
      await pool.end();
    },
  };
}

interface Parts extends ComposeOptions {
  readonly pool: Pool;
  readonly scheduler: Scheduler;
  readonly fanout: Fanout;
  readonly occurrences: OccurrenceThread;
  readonly ready: ReadyWatch;
  readonly refuse: (request: EdgeRequest, response: EdgeResponse, error: unknown) => void;
  readonly onInternal: OnInternal;
}

/** What the services of the contract do, over the stores. */
function createServices({ pool, scheduler, fanout, occurrences }: Parts) {
  const lists = createLists(pool);
  const definitions = new DefinitionCache((id) => getDefinition(pool, id));
  const readRoom = (runId: RunId, question: RoomQuestion) => readWaitingRoom(pool, runId, question);
  const reader = createRunReader({
    definitions,
    getRuns: (runIds) => getRuns(pool, DEFAULT_TENANT, runIds),
    readEvents: (runId, afterSeq, limit) => readEvents(pool, runId, afterSeq, limit),
    readRoom,
  });
  const unstoredResults = unstoredResultsOf(scheduler);
  const watching: WatchDeps = {
    ...WATCH_DEFAULTS,
    fanout,
    findRun: reader.findRun,
    readPage: coalesce({
      load: (cursors) => readEventsOfMany(pool, cursors, EVENTS_PER_READ),
      maxKeys: REPLAYS_PER_READ,
    }),
  };
  const watch: Parameters<typeof createSse>[0]["watch"] = (request) => watchRun(watching, request);
  const workflows = createWorkflowService({
    scheduler,
    getWorkflow: (id, version) => getWorkflow(pool, DEFAULT_TENANT, id, version),
    servedTypes: () => servedTypes(pool),
    listWorkflows: lists.workflows,
  });
  const runs = createRunService({
    scheduler,
    getRun: reader.getRun,
    explain: (question) => explain({ ...reader, readRoom, unstoredResults }, question),
    findRun: reader.findRun,
    listEffects: lists.effects,
    listRuns: lists.runs,
    watch,
    markHints: () => fanout.markHints(),
    endSince: (runId, since) => fanout.endSince(runId, since),
    now: Date.now,
  });
  const schedules = createScheduleService({
    scheduler,
    occurrences,
    now: Date.now,
    getSchedule: (id) => getSchedule(pool, DEFAULT_TENANT, id),
    listSchedules: lists.schedules,
  });
  const events = createEventService({
    watch,
    findRun: reader.findRun,
    readEvents: (runId, afterSeq, limit) => readEvents(pool, runId, afterSeq, limit),
    readTags: (runId, page) => readTags(pool, runId, page),
    now: Date.now,
  });
  const approvals = createApprovalService({
    scheduler,
    getApproval: (id) => getApproval(pool, DEFAULT_TENANT, id),
    listApprovals: lists.approvals,
    schemaOf: (approval) => schemaOf(pool, definitions, approval),
  });
  const queues = createQueues(pool, lists, { scheduler, definitions });
  const { contextAt } = reader;
  return { watch, contextAt, workflows, runs, events, schedules, approvals, queues };
}

/** How the response of an approval must look, as JSON text. */
async function schemaOf(
  pool: Pool,
  definitions: DefinitionCache,
  { runId, nodeId, iteration }: Pick<ApprovalRecord, "runId" | "nodeId" | "iteration">,
): Promise<string | undefined> {
  const [run] = await getRuns(pool, DEFAULT_TENANT, [runId]);
  if (run === undefined) return undefined;
  const { graph } = await definitions.get(run.definitionId);
  const index = graph.indexOf.get(nodeId);
  if (index === undefined) return undefined;
  const { responseSchema } = approvalRules(executionDefinition(graph, index, iteration));
  return responseSchema === undefined ? undefined : JSON.stringify(responseSchema);
}

/** Who answers, in order: probes, SSE, methods, console. */
function handlers(parts: Parts): readonly EdgeHandler[] {
  const { ready, metricsText, refuse, log } = parts;
  const { readiness, notes } = ready;
  const { watch, contextAt, workflows, runs, events, schedules, approvals, queues } =
    createServices(parts);
  const services = [
    served(WorkflowService, workflows),
    served(RunService, runs),
    served(EventService, events),
    served(ScheduleService, schedules),
    served(ApprovalService, approvals),
    served(QueueService, queues),
    served(Health, createHealth(readiness, SERVICES)),
  ];
  const probes = { metricsText, notReady: () => readiness.notReady(), notes };
  return [
    (request, response) => answerProbe(probes, request, response),
    createSse({ watch, contextAt, refuse, toEngineError }),
    createGrpcHandler(services, parts.onInternal),
    createRpcHandler({
      interceptors: [connectTracing, connectErrors(parts.onInternal), connectJsonForm],
      refuse,
      onBroken: (method, error) => log.debug({ method, err: error }, "a connection broke"),
      routes: (router) => {
        router.service(WorkflowService, workflows);
        router.service(RunService, runs);
        router.service(EventService, events);
        router.service(ScheduleService, schedules);
        router.service(ApprovalService, approvals);
        router.service(QueueService, queues);
        router.service(Health, createHealth(readiness, SERVICES));
        if (parts.config.PAWL_REFLECTION) {
          router.service(
            ServerReflection,
            createReflection([...SERVICES, Health, ServerReflection]),
          );
        }
      },
    }),
    createConsole(),
  ];
}
