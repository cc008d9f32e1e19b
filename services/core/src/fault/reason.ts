// Every reason for which a call may fail, in one table: its gRPC code, whether the caller may retry, which resource it is about,
// and what to do next. The names equal pawl.errors.v1.Reason without its prefix; a test compares the two.

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

/** What a call can be about. */
type Resource =
  | "approval"
  | "executor"
  | "node"
  | "node_type"
  | "request"
  | "run"
  | "schedule"
  | "service"
  | "workflow";

interface ReasonRow {
  readonly code: GrpcCodeName;
  /** Whether the same call may succeed later without a change by the caller. */
  readonly retryable: boolean;
  /** The resource that the reason is about; absent if it is about the call itself or about the server. */
  readonly resource?: Resource;
  /** What the caller should do: a short sentence for people. */
  readonly next: string;
}

export const REASONS = {
  DEFINITION_INVALID: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    next: "Correct the definition at each path named, then send it again.",
  },
  CYCLE_DETECTED: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    next: "Remove one edge of the cycle, then send the definition again.",
  },
  INPUT_INVALID: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    next: "Correct the fields named, then call again.",
  },
  WORKFLOW_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    resource: "workflow",
    next: "Check the id and version in the list of workflows; the workflow may have been deleted.",
  },
  RUN_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    resource: "run",
    next: "Check the id in the list of runs; a test run may have been deleted.",
  },
  NODE_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    resource: "node",
    next: "Check the node id and the iteration against the run's definition.",
  },
  SCHEDULE_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    resource: "schedule",
    next: "Check the id in the list of schedules.",
  },
  SCHEDULE_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    resource: "schedule",
    next: "Update the schedule, or choose another id.",
  },
  WORKFLOW_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    resource: "workflow",
    next: "Update the workflow, or choose another id.",
  },
  REQUEST_ID_REUSED: {
    code: "ALREADY_EXISTS",
    retryable: false,
    resource: "request",
    next: "Send the same request again, or use a new request id for the new one.",
  },
  RUN_ALREADY_FINISHED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    resource: "run",
    next: "Read how the run ended; start a new run if you need one.",
  },
  RUN_QUARANTINED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    resource: "run",
    next: "Repair what the message names, then recheck the run.",
  },
  HAS_LIVE_RUNS: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    resource: "workflow",
    next: "Wait for the live runs, cancel them, or delete with force.",
  },
  RUN_NOT_DELETABLE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    resource: "run",
    next: "Leave the run: only test runs can be deleted.",
  },
  NODE_NOT_HELD: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    resource: "node",
    next: "Ask why the node waits; decide only a node that waits for a person.",
  },
  NODE_ALREADY_DECIDED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    resource: "node",
    next: "Read the decision that was taken; it cannot be changed.",
  },
  APPROVAL_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    resource: "approval",
    next: "Check the id in the list of approvals; the run may have been deleted.",
  },
  APPROVAL_CLOSED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    resource: "approval",
    next: "Read how the approval ended; it takes no more answers.",
  },
  WORKFLOW_PAUSED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    resource: "run",
    next: "Resume the workflow; its runs then resume too.",
  },
  NODE_TYPE_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    resource: "node_type",
    next: "Check the name; start an executor that serves the type.",
  },
  EXECUTOR_ID_TAKEN: {
    code: "ALREADY_EXISTS",
    retryable: false,
    resource: "executor",
    next: "Give each executor an id of its own, or leave PAWL_EXECUTOR_ID unset.",
  },
  SERVICE_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    resource: "service",
    next: "Ask for the health of one of the services that the server lists.",
  },
  STALE_CLAIM: {
    code: "ABORTED",
    retryable: false,
    next: "Stop working on the node: another claim has replaced yours.",
  },
  RUN_CONTENDED: { code: "ABORTED", retryable: true, resource: "run", next: "Try again." },
  VERSION_MISMATCH: {
    code: "ABORTED",
    retryable: false,
    next: "Read the current version, apply your change to it, then save again.",
  },
  LIMIT_EXCEEDED: {
    code: "RESOURCE_EXHAUSTED",
    retryable: false,
    next: "Send less at once; the message names the limit.",
  },
  OVERLOADED: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    next: "Wait for the time given, then try again.",
  },
  STREAM_LIMIT: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    next: "Open the stream again after the cursor in the metadata, and read it faster.",
  },
  CURSOR_OUT_OF_RANGE: {
    code: "OUT_OF_RANGE",
    retryable: false,
    next: "Read from an earlier event; the message names the last one.",
  },
  STORE_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    next: "Try again; if it persists, check that PostgreSQL runs.",
  },
  DRAINING: {
    code: "UNAVAILABLE",
    retryable: true,
    next: "Try again; another process, or this one after its restart, answers.",
  },
  SCHEDULER_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    next: "Try again; if it persists, check that a scheduler runs.",
  },
  DEADLINE_PASSED: {
    code: "DEADLINE_EXCEEDED",
    retryable: false,
    next: "Call again with a longer deadline and the same request id.",
  },
  CALLER_CANCELLED: {
    code: "CANCELLED",
    retryable: false,
    next: "Call again with the same request id if you still need the result.",
  },
  EVENT_LOG_CORRUPTION: {
    code: "DATA_LOSS",
    retryable: false,
    resource: "run",
    next: "Restore the run's events from a backup, then recheck the run.",
  },
  FORBIDDEN: {
    code: "PERMISSION_DENIED",
    retryable: false,
    next: "Use an address, origin or token that the server accepts.",
  },
  UNKNOWN_METHOD: {
    code: "UNIMPLEMENTED",
    retryable: false,
    next: "Check the address and the method; the server may be older than the client.",
  },
  UNSUPPORTED_ENCODING: {
    code: "UNIMPLEMENTED",
    retryable: false,
    next: "Use one of the encodings that the metadata names.",
  },
  INTERNAL: {
    code: "INTERNAL",
    retryable: false,
    next: "Report a bug of Pawl with the request id.",
  },
} as const satisfies Record<string, ReasonRow>;

export type Reason = keyof typeof REASONS;

/** The table's row of a reason, with every column. */
export const reasonRow = (reason: Reason): ReasonRow => REASONS[reason];

/** Whether `text` is a reason of this table. */
export const isReason = (text: string): text is Reason => Object.hasOwn(REASONS, text);
