// The short names of statuses (completed, timed_out, …) in the log, in the console and for people.

import type { DescEnum, EnumShape } from "@bufbuild/protobuf";
import {
  FINAL_STATUSES,
  type NodeStatus as LoggedNodeStatus,
  type RunStatus as LoggedRunStatus,
  type StopMode,
  type Stopped,
} from "@pawl/core/log/event";
import type { FailureClass } from "@pawl/core/fault/class";
import { RUN_STATUS_ALIASES, STOP_ALIASES } from "@pawl/core/log/status-alias";
import { ApprovalStateSchema } from "@pawl/proto/pawl/v1/approval_pb";
import {
  BulkActionSchema,
  BulkOutcomeSchema,
  BulkStateSchema,
} from "@pawl/proto/pawl/v1/bulk_service_pb";
import { ExplainReasonSchema } from "@pawl/proto/pawl/v1/explain_pb";
import { DeadLetterStateSchema } from "@pawl/proto/pawl/v1/queue_service_pb";
import { CommandStateSchema, CommandTypeSchema } from "@pawl/proto/pawl/v1/queued_command_pb";
import { RepairActionSchema } from "@pawl/proto/pawl/v1/repair_pb";
import {
  FailureClass as WireFailureClass,
  FailureClassSchema,
  NodeStatusSchema,
  RunKindSchema,
  RunStatusSchema,
  type RunStatus,
  StopMode as WireStopMode,
  StopModeSchema,
} from "@pawl/proto/pawl/v1/run_pb";
import { ThreadStatusSchema } from "@pawl/proto/pawl/v1/thread_pb";

export {
  TERMINAL_TYPES as TERMINAL_EVENT_TYPES,
  isTerminalType as isTerminalEventType,
} from "@pawl/core/log/event";

function shortName(schema: DescEnum, value: number): string {
  const name = schema.value[value]?.name ?? `unknown_${value}`;
  return name.slice(schema.sharedPrefix?.length ?? 0).toLowerCase();
}

/** Runs end with `timeout` and nodes with `timed_out`: a caller may write either for both. */
const plainName = (name: string): string => (name === "timed_out" ? "timeout" : name);

/** The value of a short name. Undefined when there is none. */
function valueOf<Desc extends DescEnum>(schema: Desc, name: string): EnumShape<Desc> | undefined {
  const value = schema.values.find(
    ({ number }) => number !== 0 && plainName(shortName(schema, number)) === plainName(name),
  );
  return value?.number as EnumShape<Desc> | undefined; // the numbers of a schema are its enum
}

const namesOf = (schema: DescEnum): readonly string[] =>
  schema.values.filter(({ number }) => number !== 0).map(({ number }) => shortName(schema, number));

/** Names the values of an enum. `Name` is the union of the same words in core. */
export const namer =
  <Desc extends DescEnum, Name extends string = string>(schema: Desc) =>
  (value: EnumShape<Desc>): Name =>
    shortName(schema, value) as Name;

/** `completed` for RUN_STATUS_COMPLETED. */
export const runStatusName = namer<typeof RunStatusSchema, LoggedRunStatus>(RunStatusSchema);

/** `timed_out` for NODE_STATUS_TIMED_OUT. */
export const nodeStatusName = namer<typeof NodeStatusSchema, LoggedNodeStatus>(NodeStatusSchema);

/** `no_executor` for EXPLAIN_REASON_NO_EXECUTOR. */
export const explainReasonName = namer(ExplainReasonSchema);

/** `test` for RUN_KIND_TEST. */
export const runKindName = namer(RunKindSchema);

/** `interrupt` for STOP_MODE_INTERRUPT; absent for a plain cancellation. */
export const stopOf = (stop: WireStopMode): Stopped =>
  stop === WireStopMode.UNSPECIFIED ? {} : { stop: stopModeName(stop) };
/** STOP_MODE_INTERRUPT for `interrupt`; unspecified for none. */
export const stopModeOf = (mode: StopMode | undefined): WireStopMode =>
  mode === undefined
    ? WireStopMode.UNSPECIFIED
    : (valueOf(StopModeSchema, mode) ?? WireStopMode.UNSPECIFIED);

const stopModeName = namer<typeof StopModeSchema, StopMode>(StopModeSchema);

/** `user_timeout` for FAILURE_CLASS_USER_TIMEOUT. Undefined if the gateway names none. */
export const failureClassName = (failureClass: WireFailureClass): FailureClass | undefined =>
  failureClass === WireFailureClass.UNSPECIFIED ? undefined : shortClass(failureClass);

const shortClass = namer<typeof FailureClassSchema, FailureClass>(FailureClassSchema);

/** `busy` for THREAD_STATUS_BUSY. */
export const threadStatusName = namer(ThreadStatusSchema);

/** `cancel` for BULK_ACTION_CANCEL. */
export const bulkActionName = namer(BulkActionSchema);
/** `running` for BULK_STATE_RUNNING. */
export const bulkStateName = namer(BulkStateSchema);
/** `skipped` for BULK_OUTCOME_SKIPPED; `unspecified` for a run that the bulk has not handled. */
export const bulkOutcomeName = namer(BulkOutcomeSchema);
/** The outcome of a short name. Undefined when there is none. */
export const bulkOutcomeOf = (name: string) => valueOf(BulkOutcomeSchema, name);

/** `open` for APPROVAL_STATE_OPEN. */
export const approvalStateName = namer(ApprovalStateSchema);

/** `redriven` for DEAD_LETTER_STATE_REDRIVEN. */
export const deadLetterStateName = namer(DeadLetterStateSchema);

/** `dead_letter` for COMMAND_STATE_DEAD_LETTER. */
export const commandStateName = namer(CommandStateSchema);

/** The state of a short name. Undefined when there is none. */
export const commandStateOf = (name: string) => valueOf(CommandStateSchema, name);

/** `start` for COMMAND_TYPE_START. */
export const commandTypeName = namer(CommandTypeSchema);

/** `run_items` for REPAIR_ACTION_RUN_ITEMS. */
export const repairActionName = namer(RepairActionSchema);

/** The state of a short name. Undefined when there is none. */
export const approvalStateOf = (name: string) => valueOf(ApprovalStateSchema, name);

/** The state of a short name. Undefined when there is none. */
export const deadLetterStateOf = (name: string) => valueOf(DeadLetterStateSchema, name);

/** The status of a short name or of another word for it (`success`, `error`). Undefined when there is none. */
export const runStatusOf = (name: string) =>
  valueOf(RunStatusSchema, RUN_STATUS_ALIASES.get(name) ?? name);

/**
 * The filter of short names and of other words for them: `interrupted` and `rollback` are cancelled runs that were stopped so. Undefined if
 * there is no status of a name.
 */
export function runFilterOf(
  names: readonly string[],
):
  | { readonly statuses: readonly RunStatus[]; readonly stops: readonly WireStopMode[] }
  | undefined {
  const statuses = names.map(runStatusOf);
  const isPlain = names.some((name) => name === "cancelled");
  const stops = isPlain ? [] : names.flatMap((name) => STOP_ALIASES.get(name) ?? []);
  return statuses.every((status) => status !== undefined)
    ? { statuses, stops: stops.map(stopModeOf) }
    : undefined;
}

/** Every state of an approval by its short name. */
export const APPROVAL_STATE_NAMES = namesOf(ApprovalStateSchema);

/** Every status of a run by its short name. */
export const RUN_STATUS_NAMES = namesOf(RunStatusSchema);

/** Whether a run of this status has ended. */
export const isFinalStatus = (status: RunStatus): boolean =>
  FINAL_STATUSES.has(runStatusName(status));
