// Every machine-readable error, once: its gRPC code, whether a caller may retry, and what to do next.
// The names equal pawl.errors.v1.Reason without its prefix; a test holds the two together.

/** Canonical gRPC status codes by name; the number is fixed by gRPC. */
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

interface ReasonRow {
  readonly code: GrpcCodeName;
  /** Whether the same call may succeed later without a change by the caller. */
  readonly retryable: boolean;
}

export const REASONS = {
  DEFINITION_INVALID: { code: "INVALID_ARGUMENT", retryable: false },
  CYCLE_DETECTED: { code: "INVALID_ARGUMENT", retryable: false },
  INPUT_INVALID: { code: "INVALID_ARGUMENT", retryable: false },
  WORKFLOW_NOT_FOUND: { code: "NOT_FOUND", retryable: false },
  RUN_NOT_FOUND: { code: "NOT_FOUND", retryable: false },
  NODE_NOT_FOUND: { code: "NOT_FOUND", retryable: false },
  SCHEDULE_NOT_FOUND: { code: "NOT_FOUND", retryable: false },
  SCHEDULE_EXISTS: { code: "ALREADY_EXISTS", retryable: false },
  WORKFLOW_EXISTS: { code: "ALREADY_EXISTS", retryable: false },
  REQUEST_ID_REUSED: { code: "ALREADY_EXISTS", retryable: false },
  RUN_ALREADY_FINISHED: { code: "FAILED_PRECONDITION", retryable: false },
  RUN_QUARANTINED: { code: "FAILED_PRECONDITION", retryable: false },
  HAS_LIVE_RUNS: { code: "FAILED_PRECONDITION", retryable: false },
  RUN_NOT_DELETABLE: { code: "FAILED_PRECONDITION", retryable: false },
  NODE_NOT_HELD: { code: "FAILED_PRECONDITION", retryable: false },
  NODE_ALREADY_DECIDED: { code: "FAILED_PRECONDITION", retryable: false },
  APPROVAL_NOT_FOUND: { code: "NOT_FOUND", retryable: false },
  APPROVAL_CLOSED: { code: "FAILED_PRECONDITION", retryable: false },
  WORKFLOW_PAUSED: { code: "FAILED_PRECONDITION", retryable: false },
  NODE_TYPE_NOT_FOUND: { code: "NOT_FOUND", retryable: false },
  EXECUTOR_ID_TAKEN: { code: "ALREADY_EXISTS", retryable: false },
  STALE_CLAIM: { code: "ABORTED", retryable: false },
  RUN_CONTENDED: { code: "ABORTED", retryable: true },
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
  EVENT_LOG_CORRUPTION: { code: "DATA_LOSS", retryable: false },
  FORBIDDEN: { code: "PERMISSION_DENIED", retryable: false },
  UNKNOWN_METHOD: { code: "UNIMPLEMENTED", retryable: false },
  UNSUPPORTED_ENCODING: { code: "UNIMPLEMENTED", retryable: false },
  INTERNAL: { code: "INTERNAL", retryable: false },
} as const satisfies Record<string, ReasonRow>;

export type Reason = keyof typeof REASONS;

/** True when `text` is a reason of ours. */
export const isReason = (text: string): text is Reason => Object.hasOwn(REASONS, text);
