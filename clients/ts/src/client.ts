// The client: one object over a transport, with runs, workflows, events and a watch that resumes by itself.

import { type Client, type Transport, createClient } from "@connectrpc/connect";
import type { ExecutionTag, RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { EventService } from "@pawl/proto/pawl/v1/event_service_pb";
import { AssistantService } from "@pawl/proto/pawl/v1/assistant_service_pb";
import { ApprovalService } from "@pawl/proto/pawl/v1/approval_service_pb";
import { ArchiveService } from "@pawl/proto/pawl/v1/archive_service_pb";
import { BulkService } from "@pawl/proto/pawl/v1/bulk_service_pb";
import { NodeTypeService } from "@pawl/proto/pawl/v1/node_type_service_pb";
import { QueueService } from "@pawl/proto/pawl/v1/queue_service_pb";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { ScheduleService } from "@pawl/proto/pawl/v1/schedule_service_pb";
import { WebhookService } from "@pawl/proto/pawl/v1/webhook_service_pb";
import { ThreadService } from "@pawl/proto/pawl/v1/thread_service_pb";
import { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";
import { connect } from "#connection";
import { type Clock, SYSTEM_CLOCK } from "./backoff.ts";
import { type Caller, type PawlCallOptions, createCaller, present } from "./caller.ts";
import { type Assistants, createAssistants } from "./assistants.ts";
import { type Approvals, createApprovals } from "./approvals.ts";
import { type Archive, createArchive } from "./archive.ts";
import { type Bulks, createBulks } from "./bulks.ts";
import { type Commands, createCommands } from "./commands.ts";
import { createExecutors, createNodeTypes, type Executors, type NodeTypes } from "./node-types.ts";
import { createDeadLetters, createQueues, type DeadLetters, type Queues } from "./queues.ts";
import { beginningWith, type Watch } from "./execute.ts";
import type { Connection } from "./connection.ts";
import type { Json } from "./json.ts";
import {
  acceptedOf,
  type AcceptedRun,
  createRuns,
  type Runs,
  type RunOptions,
  startRequest,
} from "./runs.ts";
import { type Schedules, createSchedules } from "./schedules.ts";
import { type Threads, createThreads } from "./threads.ts";
import { isFinalStatus } from "./status.ts";
import { withExactJson } from "./transport.ts";
import { hasCallbacks, type StepCallbacks, watchWithCallbacks } from "./callbacks.ts";
import { createRun, type RunToEnd } from "./run.ts";
import { type StreamItem, type StreamOptions, streamRun } from "./stream.ts";
import { createCallSubmitter } from "./submit.ts";
import { withCalls } from "./submit-fallback.ts";
import { type ManyRun, watchMany, type WatchManyOptions } from "./watch-many.ts";
import { createThreadStreams, type ThreadStreams } from "./watch-thread.ts";
import { type WatchOptions, type WatchSource, watchRun } from "./watch.ts";
import { createWebhooks, type Webhooks } from "./webhooks.ts";
import { type Workflows, createWorkflows } from "./workflows.ts";

export type PawlClientOptions = (
  | { readonly transport: Transport }
  /** One address of a gateway, such as http://127.0.0.1:7400, or several. */
  | { readonly baseUrl: string | readonly string[] }
) & {
  /** Attempts of a unary call in all; default 4. */
  readonly attempts?: number;
  /** Deadline of each attempt of a unary call; default 30 s. */
  readonly timeoutMs?: number;
  /** For tests. */
  readonly clock?: Clock;
};

export interface ListEventsOptions extends PawlCallOptions {
  readonly afterEventId?: bigint | number | undefined;
  readonly pageSize?: number | undefined;
}

export interface EventPage {
  readonly events: readonly RunEvent[];
  /** Whether the log has more events already. */
  readonly hasMore: boolean;
}

export interface ListTagsOptions extends ListEventsOptions {
  /** Only of this node. */
  readonly nodeId?: string | undefined;
}

export interface TagPage {
  readonly tags: readonly ExecutionTag[];
  /** Whether the log has more tags already. */
  readonly hasMore: boolean;
}

export interface PawlClient extends ThreadStreams {
  readonly run: RunToEnd;
  /** Starts a run and returns as soon as it is accepted. @throws PawlError */
  start(workflowId: string, input?: Json, options?: RunOptions): Promise<AcceptedRun>;
  readonly runs: Runs;
  readonly workflows: Workflows;
  readonly schedules: Schedules;
  readonly webhooks: Webhooks;
  readonly assistants: Assistants;
  readonly threads: Threads;
  readonly bulks: Bulks;
  readonly archive: Archive;
  readonly approvals: Approvals;
  readonly queues: Queues;
  readonly deadLetters: DeadLetters;
  readonly commands: Commands;
  readonly nodeTypes: NodeTypes;
  readonly executors: Executors;
  readonly events: {
    /** A page of a run's log, in order. */
    list(runId: string, options?: ListEventsOptions): Promise<EventPage>;
    /** A page of a run's tags: one for every status transition, in the order of the log. */
    tags(runId: string, options?: ListTagsOptions): Promise<TagPage>;
  };
  /** Every event after the cursor, once and in order, across reconnects. It ends after the terminal event. */
  watch(
    runId: string,
    options?: WatchOptions & StepCallbacks,
  ): AsyncGenerator<RunEvent, void, undefined>;
  /** The run in modes: the log in other forms, with the cursor of a watch. It ends after the control item `done`. */
  stream(runId: string, options: StreamOptions): AsyncGenerator<StreamItem, void, undefined>;
  /**
   * The events of at most 100 runs over one connection, each once and in the order of its run, across reconnects. It ends when all runs have
   * ended. To add or remove runs, leave the loop and call it again with the event ids that you have.
   */
  watchMany(
    runs: readonly ManyRun[],
    options?: WatchManyOptions,
  ): AsyncGenerator<RunEvent, void, undefined>;
  /** Closes the connections. Calls under way fail. A process can also end without it. */
  close(): void;
}

const ATTEMPTS = 4;
const TIMEOUT_MS = 30_000;

/** A client to `baseUrl`: over gRPC on HTTP/2 in Node, over fetch elsewhere. Or over `transport` (connect-node, connect-web, …). */
export function createPawlClient(options: PawlClientOptions): PawlClient {
  const { attempts = ATTEMPTS, timeoutMs = TIMEOUT_MS, clock = SYSTEM_CLOCK } = options;
  const connection: Connection =
    "transport" in options
      ? { transport: options.transport, close: () => undefined }
      : connect(addressesOf(options.baseUrl), { attempts, timeoutMs, clock });
  const transport = withExactJson(connection.transport);
  const call = createCaller({ clock, attempts, timeoutMs });
  const runService = createClient(RunService, transport);
  const eventService = createClient(EventService, transport);
  const nodeTypeService = createClient(NodeTypeService, transport);
  const source: WatchSource = {
    open: (request, signal) => eventService.watchRun(request, { signal }),
    async lastEventIdOfEnded(runId, signal) {
      const run = present((await runService.getRun({ runId }, { signal, timeoutMs })).run);
      return isFinalStatus(run.status) ? run.lastEventId : undefined;
    },
  };
  const watch: Watch = (runId, watchOptions, first) => {
    const from = first === undefined ? source : beginningWith(first, source);
    return watchRun(from, runId, watchOptions, clock);
  };
  const stream = (runId: string, streamOptions: StreamOptions) =>
    streamRun(source, runId, streamOptions, clock);
  const calls = createCallSubmitter(runService, call, watch);
  const { submitter: streams } = connection;
  const submitter = streams === undefined ? calls : withCalls(streams, calls, clock);
  const runs = createRuns(runService, call, watch, submitter);
  return {
    run: createRun({ submitter, watch, stream, results: runs }),
    async start(workflowId, input, { signal, onStart, ...run } = {}) {
      const start = startRequest(workflowId, { input, ...run });
      const accepted = acceptedOf(await submitter.start(start, { signal }));
      onStart?.(accepted);
      return accepted;
    },
    close: () => connection.close(),
    watch: (runId, watchOptions = {}) =>
      hasCallbacks(watchOptions)
        ? watchWithCallbacks((form) => stream(runId, form), watchOptions, watchOptions)
        : watch(runId, watchOptions),
    stream,
    watchMany: (many, manyOptions = {}) => watchMany(eventService, many, manyOptions, clock),
    ...createThreadStreams(eventService, clock),
    runs,
    ...createNouns(transport, call, clock),
    ...createQueueResources(createClient(QueueService, transport), call, clock),
    nodeTypes: createNodeTypes(nodeTypeService, call),
    executors: createExecutors(nodeTypeService, call),
    events: createEvents(eventService, call),
  };
}

/** The parts that have a service of their own. */
const createNouns = (transport: Transport, call: Caller, clock: Clock) => ({
  workflows: createWorkflows(createClient(WorkflowService, transport), call),
  schedules: createSchedules(createClient(ScheduleService, transport), call),
  webhooks: createWebhooks(createClient(WebhookService, transport), call),
  assistants: createAssistants(createClient(AssistantService, transport), call),
  threads: createThreads(createClient(ThreadService, transport), call),
  bulks: createBulks(createClient(BulkService, transport), call, clock),
  archive: createArchive(createClient(ArchiveService, transport), call),
  approvals: createApprovals(createClient(ApprovalService, transport), call),
});

const createQueueResources = (rpc: Client<typeof QueueService>, call: Caller, clock: Clock) => ({
  queues: createQueues(rpc, call, clock),
  deadLetters: createDeadLetters(rpc, call),
  commands: createCommands(rpc, call),
});

const createEvents = (rpc: Client<typeof EventService>, call: Caller): PawlClient["events"] => ({
  list: (runId, page) => call(rpc.listEvents, eventsRequest(runId, page)),
  tags: (runId, page) => call(rpc.listTags, eventsRequest(runId, page)),
});

const addressesOf = (baseUrl: string | readonly string[]): readonly string[] =>
  (typeof baseUrl === "string" ? [baseUrl] : baseUrl).map((url) => url.replace(/\/+$/, ""));

const eventsRequest = (runId: string, page: ListTagsOptions = {}) => ({
  ...page,
  runId,
  afterEventId: BigInt(page.afterEventId ?? 0),
});
