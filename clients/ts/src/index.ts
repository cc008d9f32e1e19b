// The published face of the client; everything else is private to it.

export type { AnswerOptions, ApprovalPage, Approvals, ListApprovalsOptions } from "./approvals.ts";
export { type Clock } from "./backoff.ts";
export { type MutationOptions, type PawlCallOptions } from "./caller.ts";
export {
  type EventPage,
  type ListEventsOptions,
  type ListTagsOptions,
  type PawlClient,
  type PawlClientOptions,
  type TagPage,
  createPawlClient,
} from "./client.ts";
export { type DefinitionInput } from "./definition-text.ts";
export {
  PawlError,
  type PawlReason,
  type ServerReason,
  type Violation,
  pawlErrorFrom,
} from "./errors.ts";
export { fromWire } from "./from-wire.ts";
export { type NodeView, type RunView, ViewFold, view } from "@pawl/core/log/view";
export { type Json, jsonBytes, jsonOf, jsonTextBytes, jsonTextOf } from "./json.ts";
export {
  plainApproval,
  plainDeadLetter,
  plainEvent,
  plainEffect,
  plainExplanation,
  plainPause,
  plainRun,
  plainSchedule,
  plainWorkflow,
} from "./plain.ts";
export type {
  DeadLetterPage,
  DeadLetters,
  DeadLetterSelection,
  DiscardOptions,
  ListDeadLettersOptions,
  PreviewRedriveOptions,
  Queues,
  RedriveOptions,
} from "./queues.ts";
export type { RedriveStep } from "./redrive-all.ts";
export type {
  ExecuteOptions,
  ExplainOptions,
  ListRunsOptions,
  PauseRunOptions,
  RunInputOptions,
  RunPage,
  RunWithDefinition,
  Runs,
  StartRunOptions,
  StartedRun,
  TestedRun,
  WaitOptions,
} from "./runs.ts";
export { sampleInputOf } from "./sample-input.ts";
export type {
  ListSchedulesOptions,
  Missed,
  Overlap,
  PreviewOptions,
  ScheduleInput,
  SchedulePage,
  Schedules,
} from "./schedules.ts";
export {
  APPROVAL_STATE_NAMES,
  RUN_STATUS_NAMES,
  TERMINAL_EVENT_TYPES,
  approvalStateName,
  approvalStateOf,
  deadLetterStateName,
  deadLetterStateOf,
  explainReasonName,
  isFinalStatus,
  isTerminalEventType,
  nodeStatusName,
  runKindName,
  runStatusName,
  runStatusOf,
} from "./status.ts";
export type { PauseOptions } from "./pause-words.ts";
export { fetchTransport } from "./transport.ts";
export type { LostCause, Reconnect, WatchOptions } from "./watch.ts";
export type {
  AppliedWorkflow,
  SaveOptions,
  UpdateOptions,
  Validation,
  WorkflowPage,
  Workflows,
} from "./workflows.ts";
