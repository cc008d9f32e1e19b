// The record of a run: how it ended, why, when, and what its webhooks got.

import type { Client } from "@connectrpc/connect";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { FailureClass } from "@pawl/core/fault/class";
import type { WorkflowState } from "@pawl/core/log/workflow-state-shape";
import type { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import {
  type RunResult as WireResult,
  WebhookDeliveryStateSchema,
} from "@pawl/proto/pawl/v1/webhook_pb";
import { type Caller, type PawlCallOptions, present } from "./caller.ts";
import { type Json, jsonOf } from "./json.ts";
import { stateFromWire } from "./state.ts";
import { failureClassName, namer, runStatusName } from "./status.ts";

/** The state of a webhook delivery. */
export type DeliveryState = "pending" | "delivered" | "dead";

export const deliveryStateName = namer<typeof WebhookDeliveryStateSchema, DeliveryState>(
  WebhookDeliveryStateSchema,
);

export interface RunResult<Out = Json> {
  readonly runId: string;
  /** Empty for a test run. */
  readonly workflowId: string;
  readonly workflowVersion: number;
  readonly status: ReturnType<typeof runStatusName>;
  /** Undefined unless the run completed. */
  readonly output: Out | undefined;
  readonly state: WorkflowState | undefined;
  /** Why the run did not complete. Undefined if it completed. */
  readonly exception:
    | {
        readonly cause: string;
        /** What Pawl promises after this failure. Undefined if the gateway does not tell. */
        readonly failureClass: FailureClass | undefined;
        readonly message: string;
        readonly nodeId: string;
        /** What the handler added, for example the frames of an error. */
        readonly details: Json | undefined;
      }
    | undefined;
  readonly hasFailures: boolean;
  readonly lastEventId: bigint;
  readonly runStartedAt: Date | undefined;
  readonly runEndedAt: Date | undefined;
  /** Its newest webhook deliveries. */
  readonly webhooks: readonly {
    readonly deliveryId: string;
    readonly eventType: string;
    readonly state: DeliveryState;
    readonly attempts: number;
    readonly statusCode: number;
    readonly error: string;
  }[];
}

export interface Results {
  /** Waits for the end of a run and returns its record: output, state, cause of a failure, times and webhooks. */
  result(runId: string, options?: PawlCallOptions): Promise<RunResult>;
}

export const createResults = (rpc: Client<typeof RunService>, call: Caller): Results => ({
  async result(runId, options) {
    for (;;) {
      const answer = await call(rpc.waitRun, { ...options, runId, withResult: true });
      if (answer.hasEnded) return fromWire(present(answer.result));
      options?.signal?.throwIfAborted();
    }
  },
});

function fromWire(wire: WireResult): RunResult {
  const { exception, state, runStartedAt, runEndedAt } = wire;
  const { runId, workflowId, workflowVersion, hasFailures, lastEventId } = wire;
  return {
    ...{ runId, workflowId, workflowVersion, hasFailures, lastEventId },
    status: runStatusName(wire.status),
    output: jsonOf(wire.outputJson),
    state: state && stateFromWire(state),
    exception: exception && {
      cause: exception.cause,
      message: exception.message,
      nodeId: exception.nodeId,
      failureClass: failureClassName(exception.failureClass),
      details: jsonOf(exception.detailsJson),
    },
    runStartedAt: runStartedAt && timestampDate(runStartedAt),
    runEndedAt: runEndedAt && timestampDate(runEndedAt),
    webhooks: wire.webhooks.map(({ $typeName: _name, $unknown: _unknown, ...webhook }) => ({
      ...webhook,
      state: deliveryStateName(webhook.state),
    })),
  };
}
