// Every reason for which a call may fail: its gRPC code, whether the caller may retry, its resource, and the next step. The names equal
// pawl.errors.v1.Reason without its prefix. A test compares the two.

/** The gRPC status codes by name; gRPC fixes the numbers. */
export const GRPC_CODES = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
} as const;
export type GrpcCodeName = keyof typeof GRPC_CODES;

/** The resource that a call is about. */
type Resource =
  | "approval"
  | "assistant"
  | "bulk"
  | "delivery"
  | "endpoint"
  | "executor"
  | "memory_key"
  | "node"
  | "node_type"
  | "queue_job"
  | "request"
  | "run"
  | "run_filter"
  | "schedule"
  | "service"
  | "session"
  | "thread"
  | "workflow";

interface ReasonRow {
  readonly code: GrpcCodeName;
  /** Whether the same call may succeed later without a change by the caller. */
  readonly retryable: boolean;
  /** The resource that the reason is about. Absent if it is about the call itself or about the server. */
  readonly resource?: Resource;
}

export const REASONS = {
  DEFINITION_INVALID: { code: "INVALID_ARGUMENT", retryable: false },
  CYCLE_DETECTED: { code: "INVALID_ARGUMENT", retryable: false },
  INPUT_INVALID: { code: "INVALID_ARGUMENT", retryable: false },
  FILTER_INVALID: { code: "INVALID_ARGUMENT", retryable: false },
  RUN_FILTER_NOT_FOUND: { code: "NOT_FOUND", retryable: false, resource: "run_filter" },
  ARCHIVE_NOT_CONFIGURED: { code: "FAILED_PRECONDITION", retryable: false, resource: "service" },
  ARCHIVED_RUN_NOT_FOUND: { code: "NOT_FOUND", retryable: false, resource: "run" },
  ARCHIVE_INVALID: { code: "DATA_LOSS", retryable: false, resource: "run" },
  ARCHIVE_CONFLICT: { code: "ALREADY_EXISTS", retryable: false, resource: "run" },
  BULK_NOT_FOUND: { code: "NOT_FOUND", retryable: false, resource: "bulk" },
  BULK_NOT_WAITING: { code: "FAILED_PRECONDITION", retryable: false, resource: "bulk" },
  QUEUE_JOB_NOT_FOUND: { code: "NOT_FOUND", retryable: false, resource: "queue_job" },
  QUEUE_JOB_NOT_CANCELLABLE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    resource: "queue_job",
  },
  QUEUE_JOB_NOT_DEAD: { code: "FAILED_PRECONDITION", retryable: false, resource: "queue_job" },
  WORKFLOW_NOT_FOUND: { code: "NOT_FOUND", retryable: false, resource: "workflow" },
  RUN_NOT_FOUND: { code: "NOT_FOUND", retryable: false, resource: "run" },
  NODE_NOT_FOUND: { code: "NOT_FOUND", retryable: false, resource: "node" },
  MEMORY_KEY_NOT_FOUND: { code: "NOT_FOUND", retryable: false, resource: "memory_key" },
  VALUE_NOT_FOUND: { code: "NOT_FOUND", retryable: false, resource: "run" },
  VALUE_CORRUPT: { code: "DATA_LOSS", retryable: false, resource: "run" },
  SCHEDULE_NOT_FOUND: { code: "NOT_FOUND", retryable: false, resource: "schedule" },
  SCHEDULE_EXISTS: { code: "ALREADY_EXISTS", retryable: false, resource: "schedule" },
  WORKFLOW_EXISTS: { code: "ALREADY_EXISTS", retryable: false, resource: "workflow" },
  REQUEST_ID_REUSED: { code: "ALREADY_EXISTS", retryable: false, resource: "request" },
  RUN_ALREADY_FINISHED: { code: "FAILED_PRECONDITION", retryable: false, resource: "run" },
  RUN_NOT_FINISHED: { code: "FAILED_PRECONDITION", retryable: false, resource: "run" },
  RUN_NOT_REPAIRABLE: { code: "FAILED_PRECONDITION", retryable: false, resource: "run" },
  NOTHING_TO_REPAIR: { code: "FAILED_PRECONDITION", retryable: false, resource: "run" },
  REPAIR_PLAN_STALE: { code: "FAILED_PRECONDITION", retryable: false, resource: "run" },
  RUN_QUARANTINED: { code: "FAILED_PRECONDITION", retryable: false, resource: "run" },
  HAS_LIVE_RUNS: { code: "FAILED_PRECONDITION", retryable: false, resource: "workflow" },
  RUN_NOT_DELETABLE: { code: "FAILED_PRECONDITION", retryable: false, resource: "run" },
  NODE_NOT_HELD: { code: "FAILED_PRECONDITION", retryable: false, resource: "node" },
  NODE_NOT_INVOKED: { code: "FAILED_PRECONDITION", retryable: false, resource: "node" },
  NODE_ALREADY_DECIDED: { code: "FAILED_PRECONDITION", retryable: false, resource: "node" },
  APPROVAL_NOT_FOUND: { code: "NOT_FOUND", retryable: false, resource: "approval" },
  APPROVAL_CLOSED: { code: "FAILED_PRECONDITION", retryable: false, resource: "approval" },
  WORKFLOW_PAUSED: { code: "FAILED_PRECONDITION", retryable: false, resource: "run" },
  SIGNAL_NOT_AWAITED: { code: "FAILED_PRECONDITION", retryable: false, resource: "run" },
  TOO_MANY_SIGNALS: { code: "RESOURCE_EXHAUSTED", retryable: false, resource: "run" },
  BUDGET_NOT_LIMITED: { code: "FAILED_PRECONDITION", retryable: false, resource: "run" },
  WEBHOOK_ENDPOINT_NOT_FOUND: { code: "NOT_FOUND", retryable: false, resource: "endpoint" },
  WEBHOOK_ENDPOINT_EXISTS: { code: "ALREADY_EXISTS", retryable: false, resource: "endpoint" },
  WEBHOOK_DELIVERY_NOT_FOUND: { code: "NOT_FOUND", retryable: false, resource: "delivery" },
  NODE_TYPE_NOT_FOUND: { code: "NOT_FOUND", retryable: false, resource: "node_type" },
  EXECUTOR_ID_TAKEN: { code: "ALREADY_EXISTS", retryable: false, resource: "executor" },
  SERVICE_NOT_FOUND: { code: "NOT_FOUND", retryable: false, resource: "service" },
  SESSION_IN_USE: { code: "ALREADY_EXISTS", retryable: false, resource: "session" },
  PROTOCOL_UNSUPPORTED: { code: "FAILED_PRECONDITION", retryable: false, resource: "service" },
  THREAD_NOT_FOUND: { code: "NOT_FOUND", retryable: false, resource: "thread" },
  THREAD_EXISTS: { code: "ALREADY_EXISTS", retryable: false, resource: "thread" },
  THREAD_BUSY: { code: "ABORTED", retryable: false, resource: "thread" },
  ASSISTANT_NOT_FOUND: { code: "NOT_FOUND", retryable: false, resource: "assistant" },
  ASSISTANT_EXISTS: { code: "ALREADY_EXISTS", retryable: false, resource: "assistant" },
  ASSISTANT_BUSY: { code: "ABORTED", retryable: false, resource: "assistant" },
  STALE_CLAIM: { code: "ABORTED", retryable: false },
  RUN_CONTENDED: { code: "ABORTED", retryable: true, resource: "run" },
  VERSION_MISMATCH: { code: "ABORTED", retryable: false },
  LIMIT_EXCEEDED: { code: "RESOURCE_EXHAUSTED", retryable: false },
  OVERLOADED: { code: "RESOURCE_EXHAUSTED", retryable: true },
  STREAM_LIMIT: { code: "RESOURCE_EXHAUSTED", retryable: true },
  CURSOR_OUT_OF_RANGE: { code: "OUT_OF_RANGE", retryable: false },
  STORE_UNAVAILABLE: { code: "UNAVAILABLE", retryable: true },
  DRAINING: { code: "UNAVAILABLE", retryable: true },
  SCHEDULER_UNAVAILABLE: { code: "UNAVAILABLE", retryable: true },
  DEADLINE_PASSED: { code: "DEADLINE_EXCEEDED", retryable: false },
  CALLER_CANCELLED: { code: "CANCELLED", retryable: false },
  EVENT_LOG_CORRUPTION: { code: "DATA_LOSS", retryable: false, resource: "run" },
  FORBIDDEN: { code: "PERMISSION_DENIED", retryable: false },
  UNKNOWN_METHOD: { code: "UNIMPLEMENTED", retryable: false },
  UNSUPPORTED_ENCODING: { code: "UNIMPLEMENTED", retryable: false },
  INTERNAL: { code: "INTERNAL", retryable: false },
} as const satisfies Record<string, ReasonRow>;

export type Reason = keyof typeof REASONS;

/** The next step of the caller: a short sentence for people. */
export const NEXT_STEPS: Readonly<Record<Reason, string>> = {
  DEFINITION_INVALID: "Correct the definition at each path named, then send it again.",
  CYCLE_DETECTED:
    "Remove one edge of the cycle, or write `loop: true` on the edge that leads back, then send the definition again.",
  INPUT_INVALID: "Correct the fields named, then call again.",
  FILTER_INVALID: "Correct the filter at the line and column named, then call again.",
  RUN_FILTER_NOT_FOUND: "Check the name in the list of kept filters.",
  WORKFLOW_NOT_FOUND:
    "Check the id and version in the list of workflows; the workflow may have been deleted.",
  RUN_NOT_FOUND:
    "Check the id in the list of runs; a test run or a temporary run may have been deleted.",
  NODE_NOT_FOUND: "Check the node id and the iteration against the run's definition.",
  MEMORY_KEY_NOT_FOUND:
    "Check the key; the log of the run shows which keys its nodes have written.",
  WEBHOOK_ENDPOINT_NOT_FOUND: "Check the id in the list of webhook endpoints.",
  WEBHOOK_ENDPOINT_EXISTS: "Update the endpoint, or choose another id.",
  WEBHOOK_DELIVERY_NOT_FOUND:
    "Check the id in the list of deliveries; deliveries that are over are deleted after 30 days.",
  VALUE_NOT_FOUND:
    "Check the digest against the reference in the run, and the part against its size; the run may have been deleted.",
  VALUE_CORRUPT: "Restore the value store from a backup, then read again.",
  SCHEDULE_NOT_FOUND: "Check the id in the list of schedules.",
  SCHEDULE_EXISTS: "Update the schedule, or choose another id.",
  WORKFLOW_EXISTS: "Update the workflow, or choose another id.",
  REQUEST_ID_REUSED: "Send the same request again, or use a new request id for the new one.",
  RUN_ALREADY_FINISHED: "Read how the run ended; start a new run if you need one.",
  RUN_NOT_FINISHED: "Wait for the end of the run, or cancel it, then repair it.",
  RUN_NOT_REPAIRABLE: "Start a new run; the message says why this one cannot be repaired.",
  NOTHING_TO_REPAIR:
    "Name the nodes that run again, or give a definition, an input or an output that differs.",
  REPAIR_PLAN_STALE: "Ask for the plan again, read it, then repair with its digest.",
  RUN_QUARANTINED: "Repair what the message names, then recheck the run.",
  HAS_LIVE_RUNS: "Wait for the live runs, cancel them, or delete with force.",
  RUN_NOT_DELETABLE: "Leave the run: only test runs and temporary runs can be deleted.",
  NODE_NOT_HELD: "Ask why the node waits; decide only a node that waits for a person.",
  NODE_NOT_INVOKED: "Choose a node of a type of your own that has started.",
  NODE_ALREADY_DECIDED: "Read the decision that was taken; it cannot be changed.",
  APPROVAL_NOT_FOUND: "Check the id in the list of approvals; the run may have been deleted.",
  APPROVAL_CLOSED: "Read how the approval ended; it takes no more answers.",
  WORKFLOW_PAUSED: "Resume the workflow; its runs then resume too.",
  SIGNAL_NOT_AWAITED:
    "Use a name that the message lists; a run takes a signal only if a node of its workflow waits for it.",
  TOO_MANY_SIGNALS:
    "Wait until the run has taken the signals that it keeps, then send again; the message names the limit.",
  BUDGET_NOT_LIMITED: "Read the budget of the run; raise only what it limits.",
  NODE_TYPE_NOT_FOUND: "Check the name; start an executor that serves the type.",
  EXECUTOR_ID_TAKEN: "Give each executor an id of its own, or leave PAWL_EXECUTOR_ID unset.",
  SERVICE_NOT_FOUND: "Ask for the health of one of the services that the server lists.",
  SESSION_IN_USE: "Begin a session with a new session_id, or resume the one that you have.",
  PROTOCOL_UNSUPPORTED: "Use an SDK that speaks a version that the metadata names.",
  ARCHIVE_NOT_CONFIGURED: "Set PAWL_ARCHIVE for schedulers and gateways, then call again.",
  ARCHIVED_RUN_NOT_FOUND: "Check the id in the list of archived runs.",
  ARCHIVE_INVALID: "Restore the file of the run from a backup of the archive, then call again.",
  ARCHIVE_CONFLICT:
    "Read both; the database has another run, or another workflow version, of this id.",
  BULK_NOT_FOUND: "Check the id in the list of bulks.",
  BULK_NOT_WAITING:
    "Read the state of the bulk; only a bulk that waits behind its canary continues.",
  QUEUE_JOB_NOT_FOUND:
    "Check the id in the list of queued jobs; a finished job is kept for a while.",
  QUEUE_JOB_NOT_CANCELLABLE: "Cancel the run that the job started, if it has started one.",
  QUEUE_JOB_NOT_DEAD: "Read the state of the job; only a job that was given up can be redriven.",
  THREAD_NOT_FOUND: "Check the id in the list of threads, or let the run create its thread.",
  THREAD_EXISTS: "Use the thread that exists, or choose another id.",
  THREAD_BUSY:
    "Wait for the end of the run that the metadata names, or start with another multitask strategy.",
  ASSISTANT_NOT_FOUND: "Check the id in the list of assistants.",
  ASSISTANT_EXISTS: "Update the assistant that exists, or choose another id.",
  ASSISTANT_BUSY: "Wait for the live runs, cancel them, or delete with force.",
  STALE_CLAIM: "Stop working on the node: another claim has replaced yours.",
  RUN_CONTENDED: "Try again.",
  VERSION_MISMATCH: "Read the current version, apply your change to it, then save again.",
  LIMIT_EXCEEDED: "Send less at once; the message names the limit.",
  OVERLOADED: "Wait for the time given, then try again.",
  STREAM_LIMIT: "Open the stream again after the cursor in the metadata, and read it faster.",
  CURSOR_OUT_OF_RANGE: "Read from an earlier event; the message names the last one.",
  STORE_UNAVAILABLE: "Try again; if it persists, check that PostgreSQL runs.",
  DRAINING: "Try again; another process, or this one after its restart, answers.",
  SCHEDULER_UNAVAILABLE: "Try again; if it persists, check that a scheduler runs.",
  DEADLINE_PASSED: "Call again with a longer deadline and the same request id.",
  CALLER_CANCELLED: "Call again with the same request id if you still need the result.",
  EVENT_LOG_CORRUPTION: "Restore the run's events from a backup, then recheck the run.",
  FORBIDDEN: "Use an address, origin or token that the server accepts.",
  UNKNOWN_METHOD: "Check the address and the method; the server may be older than the client.",
  UNSUPPORTED_ENCODING: "Use one of the encodings that the metadata names.",
  INTERNAL: "Report a bug of Pawl with the request id.",
};

/** The key of the metadata that holds the id of a resource. Some resources have a name, not an id. */
export const resourceKey = (resource: Resource) =>
  resource === "node_type" ||
  resource === "service" ||
  resource === "run_filter" ||
  resource === "memory_key"
    ? resource
    : (`${resource}_id` as const);

/** The table's row of a reason, with every column. */
export const reasonRow = (reason: Reason): ReasonRow => REASONS[reason];

/** Whether `text` is a reason of this table. */
export const isReason = (text: string): text is Reason => Object.hasOwn(REASONS, text);
