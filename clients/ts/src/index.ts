// The public interface of the client; everything else is private.

export type { AnswerOptions, ApprovalPage, Approvals, ListApprovalsOptions } from "./approvals.ts";
export type {
  BulkAction,
  BulkPage,
  BulkRunPage,
  Bulks,
  BulkSelection,
  ListBulkRunsOptions,
  PreviewBulkOptions,
  StartBulkOptions,
  StopBulkOptions,
} from "./bulks.ts";
export type { Archive, ArchivedPage, ListArchivedOptions } from "./archive.ts";
export type { CancelOptions } from "./cancel.ts";
export type { Clock } from "./backoff.ts";
export {
  freshRequestId,
  type MutationOptions,
  type PageOptions,
  type PauseOptions,
  type PawlCallOptions,
} from "./caller.ts";
export {
  createPawlClient,
  type EventPage,
  type ListEventsOptions,
  type ListTagsOptions,
  type PawlClient,
  type PawlClientOptions,
  type TagPage,
} from "./client.ts";
export {
  type DrawnEdge,
  type DrawnGraph,
  type DrawnNode,
  readGraph,
  sampleInputOf,
} from "./definition.ts";
export {
  PawlError,
  pawlErrorFrom,
  type PawlReason,
  type ServerReason,
  type Violation,
} from "./errors.ts";
export { fromWire } from "./from-wire.ts";
export {
  type DefinitionInput,
  type Json,
  jsonBytes,
  jsonOf,
  jsonTextBytes,
  jsonTextOf,
} from "./json.ts";
export type {
  CommandPage,
  Commands,
  EnqueueOptions,
  EnqueueResumeOptions,
  EnqueueStartOptions,
  ListCommandsOptions,
} from "./commands.ts";
export type { Executors, NodeTypePage, NodeTypes } from "./node-types.ts";
export {
  plainApproval,
  plainDailyBudget,
  plainArchivedRun,
  plainBulk,
  plainCommand,
  plainQueueStats,
  plainBulkPreview,
  plainBulkRun,
  plainDeadLetter,
  plainEffect,
  plainEvent,
  plainExecutor,
  plainExplanation,
  plainTaintTrace,
  plainPause,
  plainRepairPlan,
  plainRun,
  plainSchedule,
  plainWebhookAttempt,
  plainWebhookDelivery,
  plainWebhookEndpoint,
  plainAssistant,
  plainThread,
  plainThreadState,
  plainWorkflow,
} from "./plain.ts";
export type {
  FollowStatsOptions,
  QueueStatsOptions,
  DeadLetterPage,
  DeadLetters,
  DeadLetterSelection,
  DiscardOptions,
  ListDeadLettersOptions,
  PreviewRedriveOptions,
  Queues,
  RedriveOptions,
  RedriveStep,
} from "./queues.ts";
export type {
  RepairedRun,
  RepairNode,
  RepairOptions,
  RepairPlan,
  RetryOptions,
  SetOutput,
} from "./repairs.ts";
export type {
  AcceptedRun,
  DecideOptions,
  EffectPage,
  EffectsOptions,
  ExecuteOptions,
  ExplainOptions,
  PauseRunOptions,
  RunInputOptions,
  RunOptions,
  Runs,
  RunWithDefinition,
  StartedRun,
  StartItem,
  StartOutcome,
  StartRunOptions,
  TestedRun,
  WaitOptions,
} from "./runs.ts";
export type { Filters, ListRunsOptions, RunPage } from "./filters.ts";
export type { TaintOf } from "./taint.ts";
export type { SignalledRun, SignalOptions } from "./signal.ts";
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
  approvalStateName,
  approvalStateOf,
  bulkActionName,
  bulkOutcomeName,
  bulkOutcomeOf,
  bulkStateName,
  commandStateName,
  commandStateOf,
  commandTypeName,
  deadLetterStateName,
  deadLetterStateOf,
  explainReasonName,
  failureClassName,
  isFinalStatus,
  isTerminalEventType,
  nodeStatusName,
  repairActionName,
  RUN_STATUS_NAMES,
  runFilterOf,
  runKindName,
  runStatusName,
  runStatusOf,
  stopOf,
  TERMINAL_EVENT_TYPES,
  threadStatusName,
} from "./status.ts";
export type { TimeOptions } from "./start-time.ts";
export type { GetRunOptions, RunBounds } from "./state.ts";
export type {
  AssistantInput,
  AssistantPage,
  Assistants,
  ListAssistantsOptions,
  StartDefaults,
} from "./assistants.ts";
export type {
  AssistantOptions,
  ForkThreadOptions,
  ListThreadsOptions,
  MetadataOptions,
  Multitask,
  ThreadAssistantOptions,
  ThreadOptions,
  ThreadPage,
  ThreadRelease,
  Threads,
  ThreadStateOptions,
} from "./threads.ts";
export type { FailureClass } from "@pawl/core/fault/class";
export type { RunToEnd, RunToEndOptions } from "./run.ts";
export { RunFailed } from "./submit.ts";
export type { Checkpoint, StepCallbacks, TaskResult } from "./callbacks.ts";
export {
  STREAM_MODE_NAMES,
  type StreamItem,
  type StreamMode,
  type StreamOptions,
} from "./stream.ts";
export type { WaitingReason, WorkflowState } from "@pawl/core/log/workflow-state-shape";
export { workflowStateJson } from "@pawl/core/log/workflow-state-json";
export { fetchTransport } from "./transport.ts";
export type { ManyRun, WatchManyOptions } from "./watch-many.ts";
export type {
  StreamThreadOptions,
  ThreadEvent,
  ThreadItem,
  ThreadStreams,
  WatchThreadOptions,
} from "./watch-thread.ts";
export type { LostCause, Reconnect, WatchOptions } from "./watch.ts";
export type {
  DeliveryPage,
  DeliveryWithAttempts,
  EndpointPage,
  EndpointWithSecret,
  ListDeliveriesOptions,
  RunWebhookInput,
  WebhookEndpointInput,
  WebhookOptions,
  Webhooks,
} from "./webhooks.ts";
export { type DeliveryState, deliveryStateName, type RunResult } from "./result.ts";
export {
  type VerifyOptions,
  verifyWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  WebhookRefused,
} from "./verify-webhook.ts";
export type {
  AppliedWorkflow,
  DailyBudgetPage,
  ListDailyBudgetsOptions,
  SaveOptions,
  UpdateOptions,
  Validation,
  WorkflowPage,
  Workflows,
} from "./workflows.ts";
export { type NodeView, type RunView, ViewFold, view } from "@pawl/core/log/view";
export { type BudgetAmounts, type BudgetOptions, type DayMeter, dayMeters } from "./budget.ts";
export { amountText, usdText } from "@pawl/core/policy/budget";
