// The short names of statuses (completed, timed_out, …), as the log, the console and people spell them.

import type { DescEnum } from "@bufbuild/protobuf";
import { type ApprovalState, ApprovalStateSchema } from "@pawl/proto/pawl/v1/approval_pb";
import { type DeadLetterState, DeadLetterStateSchema } from "@pawl/proto/pawl/v1/queue_service_pb";
import { ExplainReasonSchema, type ExplainReason } from "@pawl/proto/pawl/v1/explain_pb";
import {
  NodeStatusSchema,
  RunKindSchema,
  RunStatus,
  RunStatusSchema,
  type NodeStatus,
  type RunKind,
} from "@pawl/proto/pawl/v1/run_pb";

function shortName(schema: DescEnum, value: number): string {
  const name = schema.value[value]?.name ?? `unknown_${value}`;
  return name.slice(schema.sharedPrefix?.length ?? 0).toLowerCase();
}

/** `completed` for RUN_STATUS_COMPLETED. */
export const runStatusName = (status: RunStatus): string => shortName(RunStatusSchema, status);

/** `timed_out` for NODE_STATUS_TIMED_OUT. */
export const nodeStatusName = (status: NodeStatus): string => shortName(NodeStatusSchema, status);

/** `no_executor` for EXPLAIN_REASON_NO_EXECUTOR. */
export const explainReasonName = (reason: ExplainReason): string =>
  shortName(ExplainReasonSchema, reason);

/** `test` for RUN_KIND_TEST. */
export const runKindName = (kind: RunKind): string => shortName(RunKindSchema, kind);

/** `open` for APPROVAL_STATE_OPEN. */
export const approvalStateName = (state: ApprovalState): string =>
  shortName(ApprovalStateSchema, state);

/** The state of a short name, undefined when there is none of it. */
export function approvalStateOf(name: string): ApprovalState | undefined {
  const value = ApprovalStateSchema.values.find(
    (one) => shortName(ApprovalStateSchema, one.number) === name,
  );
  return value === undefined || value.number === 0 ? undefined : (value.number as ApprovalState); // numbers of the schema are the type
}

/** `redriven` for DEAD_LETTER_STATE_REDRIVEN. */
export const deadLetterStateName = (state: DeadLetterState): string =>
  shortName(DeadLetterStateSchema, state);

/** The state of a short name, undefined when there is none of it. */
export function deadLetterStateOf(name: string): DeadLetterState | undefined {
  const value = DeadLetterStateSchema.values.find(
    (one) => shortName(DeadLetterStateSchema, one.number) === name,
  );
  return value === undefined || value.number === 0 ? undefined : (value.number as DeadLetterState); // numbers of the schema are the type
}

/** The status of a short name, undefined when there is none of it. */
export function runStatusOf(name: string): RunStatus | undefined {
  const value = RunStatusSchema.values.find(
    (one) => shortName(RunStatusSchema, one.number) === name,
  );
  return value === undefined || value.number === 0 ? undefined : (value.number as RunStatus); // numbers of the schema are the type
}

const FINAL: ReadonlySet<number> = new Set([
  RunStatus.COMPLETED,
  RunStatus.FAILED,
  RunStatus.CANCELLED,
  RunStatus.TIMEOUT,
]);

/** Whether nothing can change a run of this status any more. */
export const isFinalStatus = (status: RunStatus): boolean => FINAL.has(status);

/** The types of event that close a log. */
export const TERMINAL_EVENT_TYPES = [
  "run.completed",
  "run.failed",
  "run.cancelled",
  "run.timed_out",
] as const;

/** Whether an event of this type is the last of its log. */
export const isTerminalEventType = (type: string): boolean =>
  TERMINAL_EVENT_TYPES.some((terminal) => terminal === type);
