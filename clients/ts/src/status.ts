// The short names of statuses (completed, timed_out, …), as the log, the console and people spell them.

import type { DescEnum } from "@bufbuild/protobuf";
import {
  FINAL_STATUSES,
  RUN_STATUS_ALIASES,
  TERMINAL_TYPES,
  isTerminalType,
} from "@pawl/core/log/event";
import { type ApprovalState, ApprovalStateSchema } from "@pawl/proto/pawl/v1/approval_pb";
import { type DeadLetterState, DeadLetterStateSchema } from "@pawl/proto/pawl/v1/queue_service_pb";
import { ExplainReasonSchema, type ExplainReason } from "@pawl/proto/pawl/v1/explain_pb";
import {
  NodeStatusSchema,
  RunKindSchema,
  RunStatusSchema,
  type NodeStatus,
  type RunKind,
  type RunStatus,
} from "@pawl/proto/pawl/v1/run_pb";

function shortName(schema: DescEnum, value: number): string {
  const name = schema.value[value]?.name ?? `unknown_${value}`;
  return name.slice(schema.sharedPrefix?.length ?? 0).toLowerCase();
}

/** Runs end with `timeout` and nodes with `timed_out`: a caller may write either for both. */
const plainName = (name: string): string => (name === "timed_out" ? "timeout" : name);

/** The number of a short name. The numbers of a schema are its enum, so the caller names the type. */
function numberOf<Enum extends number>(schema: DescEnum, name: string): Enum | undefined {
  const value = schema.values.find(
    ({ number }) => number !== 0 && plainName(shortName(schema, number)) === plainName(name),
  );
  return value?.number as Enum | undefined;
}

const namesOf = (schema: DescEnum): readonly string[] =>
  schema.values.filter(({ number }) => number !== 0).map(({ number }) => shortName(schema, number));

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
export const approvalStateOf = (name: string): ApprovalState | undefined =>
  numberOf(ApprovalStateSchema, name);

/** Every state by its short name. */
export const APPROVAL_STATE_NAMES: readonly string[] = namesOf(ApprovalStateSchema);

/** `redriven` for DEAD_LETTER_STATE_REDRIVEN. */
export const deadLetterStateName = (state: DeadLetterState): string =>
  shortName(DeadLetterStateSchema, state);

/** The state of a short name, undefined when there is none of it. */
export const deadLetterStateOf = (name: string): DeadLetterState | undefined =>
  numberOf(DeadLetterStateSchema, name);

/** The status of a short name or of another word for it (`success`, `error`); undefined when there is none. */
export const runStatusOf = (name: string): RunStatus | undefined =>
  numberOf(RunStatusSchema, RUN_STATUS_ALIASES.get(name) ?? name);

/** Every status of a run by its short name. */
export const RUN_STATUS_NAMES: readonly string[] = namesOf(RunStatusSchema);

/** Whether nothing can change a run of this status any more. */
export const isFinalStatus = (status: RunStatus): boolean =>
  FINAL_STATUSES.has(runStatusName(status));

/** The types of event that close a log. */
export const TERMINAL_EVENT_TYPES: readonly string[] = TERMINAL_TYPES;

/** Whether an event of this type is the last of its log. */
export const isTerminalEventType = (type: string): boolean => isTerminalType(type);
