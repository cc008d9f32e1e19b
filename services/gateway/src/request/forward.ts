// Sends commands to the scheduler, the only writer of the log. The gateway returns its errors with their details. If the gateway can reach
// no scheduler, the error is SCHEDULER_UNAVAILABLE with a hint when to try again.

import type { Value } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { createCommandClient } from "@pawl/platform/lanes/command-client";
import type { UnaryOptions } from "@pawl/platform/rpc/grpc-client";
import { UNARY_DEADLINE_MS } from "@pawl/platform/rpc/unary";
import { toJsonBytes } from "@pawl/platform/wire/scalar";
import { StatsService } from "@pawl/proto/pawl/command/v1/command_service_pb";
import { ApprovalService } from "@pawl/proto/pawl/v1/approval_service_pb";
import { ArchiveService } from "@pawl/proto/pawl/v1/archive_service_pb";
import { AssistantService } from "@pawl/proto/pawl/v1/assistant_service_pb";
import { BulkService } from "@pawl/proto/pawl/v1/bulk_service_pb";
import { QueueService } from "@pawl/proto/pawl/v1/queue_service_pb";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { ScheduleService } from "@pawl/proto/pawl/v1/schedule_service_pb";
import { WebhookService } from "@pawl/proto/pawl/v1/webhook_service_pb";
import { ThreadService } from "@pawl/proto/pawl/v1/thread_service_pb";
import { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";
import { connectStandings } from "./standings.ts";

/** The scheduler's services. */
export type Scheduler = ReturnType<typeof connectScheduler>;
/** The time and the cancellation of a call. */
export type CallLimits = Pick<HandlerContext, "signal" | "timeoutMs">;

/** Connects at the first call. `address` is host:port, several with commas, or a gRPC target. */
export function connectScheduler(address: string) {
  const client = createCommandClient(address);
  const standings = connectStandings(address);
  return {
    approvals: client.callsOf(ApprovalService),
    runs: client.callsOf(RunService),
    workflows: client.callsOf(WorkflowService),
    queues: client.callsOf(QueueService),
    schedules: client.callsOf(ScheduleService),
    webhooks: client.callsOf(WebhookService),
    bulks: client.callsOf(BulkService),
    assistants: client.callsOf(AssistantService),
    threads: client.callsOf(ThreadService),
    archive: client.callsOf(ArchiveService),
    stats: client.callsOf(StatsService),
    /** The streams that carry commands. */
    usage: () => client.usage(),
    /** Facts that only the memory of schedulers holds. */
    standings,
    /** Settles when a scheduler is connected. @throws SCHEDULER_UNAVAILABLE */
    waitForReady: (timeoutMs: number) => client.waitForReady(timeoutMs),
    close: () => {
      client.close();
      standings.close();
    },
  };
}

/**
 * A method that parses its request as the scheduler will, and lets the scheduler answer. So most faulty requests never reach the scheduler.
 * A request without an id gets one, because the gateway may send it twice.
 */
export const forwarded =
  <Request extends { requestId: string }, Response>(
    send: (request: NoInfer<Request>, options: UnaryOptions) => Promise<Response>,
    parse: (request: NoInfer<Request>) => unknown,
  ) =>
  (request: Request, { signal, timeoutMs }: CallLimits): Promise<Response> => {
    parse(request);
    request.requestId ||= crypto.randomUUID();
    const leftMs = Math.min(timeoutMs() ?? UNARY_DEADLINE_MS, UNARY_DEADLINE_MS);
    return send(request, { signal, timeoutMs: Math.max(1, leftMs) });
  };

interface Given {
  inputJson: Uint8Array;
  input?: Value | undefined;
}

/** Sends an input that the client sent as a Value as JSON. The gateway has parsed it already. */
export function sendAsJson(given: Given, input: string): void {
  if (given.input === undefined) return;
  given.inputJson = toJsonBytes(input);
  delete given.input;
}
