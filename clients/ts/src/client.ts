// The client: one object over a transport, with runs, workflows, events and a watch that resumes by itself.

import { type Transport, createClient } from "@connectrpc/connect";
import type { ExecutionTag, RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { EventService } from "@pawl/proto/pawl/v1/event_service_pb";
import { ApprovalService } from "@pawl/proto/pawl/v1/approval_service_pb";
import { QueueService } from "@pawl/proto/pawl/v1/queue_service_pb";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { ScheduleService } from "@pawl/proto/pawl/v1/schedule_service_pb";
import { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";
import { type Clock, SYSTEM_CLOCK } from "./backoff.ts";
import { type PawlCallOptions, createCaller, present } from "./caller.ts";
import { type Approvals, createApprovals } from "./approvals.ts";
import { createDeadLetters, createQueues, type DeadLetters, type Queues } from "./queues.ts";
import { beginningWith, type Watch } from "./execute.ts";
import { type Runs, createRuns } from "./runs.ts";
import { type Schedules, createSchedules } from "./schedules.ts";
import { isFinalStatus } from "./status.ts";
import { withExactJson } from "./exact-json.ts";
import { fetchTransport } from "./transport.ts";
import { type WatchOptions, type WatchSource, watchRun } from "./watch.ts";
import { type Workflows, createWorkflows } from "./workflows.ts";

export type PawlClientOptions = (
  | { readonly transport: Transport }
  | { readonly baseUrl: string }
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
  /** Whether more events are there already. */
  readonly hasMore: boolean;
}

export interface ListTagsOptions extends ListEventsOptions {
  /** Only of this node. */
  readonly nodeId?: string | undefined;
}

export interface TagPage {
  readonly tags: readonly ExecutionTag[];
  /** Whether more tags are there already. */
  readonly hasMore: boolean;
}

export interface PawlClient {
  readonly runs: Runs;
  readonly workflows: Workflows;
  readonly schedules: Schedules;
  readonly approvals: Approvals;
  readonly queues: Queues;
  readonly deadLetters: DeadLetters;
  readonly events: {
    /** A page of a run's log, in order. */
    list(runId: string, options?: ListEventsOptions): Promise<EventPage>;
    /** A page of a run's tags: one for every status transition, in the order of the log. */
    tags(runId: string, options?: ListTagsOptions): Promise<TagPage>;
  };
  /** Every event after the cursor, once and in order, across reconnects; ends after the terminal one. */
  watch(runId: string, options?: WatchOptions): AsyncGenerator<RunEvent, void, undefined>;
}

const ATTEMPTS = 4;
const TIMEOUT_MS = 30_000;

/** A client over `transport` (connect-node, connect-web, …), or over fetch to `baseUrl`. */
export function createPawlClient(options: PawlClientOptions): PawlClient {
  const transport = withExactJson(
    "transport" in options ? options.transport : fetchTransport(options.baseUrl),
  );
  const { attempts = ATTEMPTS, timeoutMs = TIMEOUT_MS, clock = SYSTEM_CLOCK } = options;
  const call = createCaller({ clock, attempts, timeoutMs });
  const runService = createClient(RunService, transport);
  const eventService = createClient(EventService, transport);
  const queueService = createClient(QueueService, transport);
  const source: WatchSource = {
    open: (request, signal) => eventService.watchRun(request, { signal }),
    async lastEventIdOfEnded(runId, signal) {
      const run = present((await runService.getRun({ runId }, { signal, timeoutMs })).run);
      return isFinalStatus(run.status) ? run.lastEventId : undefined;
    },
  };
  const watch: Watch = (runId, watchOptions, first) =>
    watchRun(
      first === undefined ? source : beginningWith(first, source),
      runId,
      watchOptions,
      clock,
    );
  return {
    watch: (runId, watchOptions) => watch(runId, watchOptions),
    runs: createRuns(runService, call, watch),
    workflows: createWorkflows(createClient(WorkflowService, transport), call),
    schedules: createSchedules(createClient(ScheduleService, transport), call),
    approvals: createApprovals(createClient(ApprovalService, transport), call),
    queues: createQueues(queueService, call),
    deadLetters: createDeadLetters(queueService, call),
    events: {
      async list(runId, listOptions = {}) {
        const request = {
          runId,
          afterEventId: BigInt(listOptions.afterEventId ?? 0),
          pageSize: listOptions.pageSize ?? 0,
        };
        const page = await call(listOptions, (o) => eventService.listEvents(request, o));
        return { events: page.events, hasMore: page.hasMore };
      },
      async tags(runId, listOptions = {}) {
        const request = {
          runId,
          afterEventId: BigInt(listOptions.afterEventId ?? 0),
          pageSize: listOptions.pageSize ?? 0,
          nodeId: listOptions.nodeId ?? "",
        };
        const page = await call(listOptions, (o) => eventService.listTags(request, o));
        return { tags: page.tags, hasMore: page.hasMore };
      },
    },
  };
}
