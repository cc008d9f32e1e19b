// Commands go to the scheduler, the only writer of the log. Its errors come back with their details and are passed on as they are; a
// scheduler that cannot be reached is SCHEDULER_UNAVAILABLE with a hint when to try again.

import type { HandlerContext } from "@connectrpc/connect";
import { createCommandClient } from "@pawl/platform/rpc/command-client";
import type { GrpcClient, UnaryOptions } from "@pawl/platform/rpc/grpc-client";
import { UNARY_DEADLINE_MS } from "@pawl/platform/rpc/unary";
import { ApprovalService } from "@pawl/proto/pawl/v1/approval_service_pb";
import { QueueService } from "@pawl/proto/pawl/v1/queue_service_pb";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { ScheduleService } from "@pawl/proto/pawl/v1/schedule_service_pb";
import { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";
import { connectStandings, type Standings } from "./standings.ts";

/** The scheduler's services. */
export interface Scheduler {
  readonly approvals: GrpcClient<typeof ApprovalService>["call"];
  readonly runs: GrpcClient<typeof RunService>["call"];
  readonly workflows: GrpcClient<typeof WorkflowService>["call"];
  readonly queues: GrpcClient<typeof QueueService>["call"];
  readonly schedules: GrpcClient<typeof ScheduleService>["call"];
  /** What schedulers know in memory. */
  readonly standings: Standings;
  /** Settles when a scheduler is connected. @throws SCHEDULER_UNAVAILABLE */
  waitForReady(timeoutMs: number): Promise<void>;
  close(): void;
}

/** Connects lazily. `address` is host:port, several with commas, or a gRPC target. */
export function connectScheduler(address: string): Scheduler {
  const client = createCommandClient(address);
  const standings = connectStandings(address);
  return {
    approvals: client.callsOf(ApprovalService),
    runs: client.callsOf(RunService),
    workflows: client.callsOf(WorkflowService),
    queues: client.callsOf(QueueService),
    schedules: client.callsOf(ScheduleService),
    standings,
    waitForReady: (timeoutMs) => client.waitForReady(timeoutMs),
    close: () => {
      client.close();
      standings.close();
    },
  };
}

/** The caller's deadline and cancellation, handed on. */
export function forwardOptions(
  context: Pick<HandlerContext, "signal" | "timeoutMs">,
): UnaryOptions {
  const leftMs = context.timeoutMs() ?? UNARY_DEADLINE_MS;
  return {
    signal: context.signal,
    timeoutMs: Math.max(1, Math.min(leftMs, UNARY_DEADLINE_MS)),
  };
}
