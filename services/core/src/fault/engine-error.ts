// The one error class: a call failed for one of the reasons in reason.ts. Expected outcomes are values, not errors.

import { REASONS, type Reason } from "./reason.ts";

/** A field of a request that breaks a rule; becomes google.rpc.BadRequest. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
  /** The rule it breaks, in UPPER_SNAKE. */
  readonly reason: string;
}

/** Keys of ErrorInfo.metadata: one spelling for each thing. */
type MetadataKey =
  | "approval_id"
  | "bulk_id"
  | "bytes"
  | "column"
  | "current_version"
  | "cursor"
  | "cycle"
  | "definition_id"
  | "delivery_id"
  | "endpoint_id"
  | "executor_id"
  | "field"
  | "header"
  | "iteration"
  | "last_event_id"
  | "limit"
  | "line"
  | "live_runs"
  | "memory_key"
  | "next"
  | "node_id"
  | "node_type"
  | "origin_request_id"
  | "quarantine_reason"
  | "queue_job_id"
  | "request_id"
  | "run_filter"
  | "run_id"
  | "schedule_id"
  | "seq"
  | "thread_id"
  | "assistant_id"
  | "service"
  // The id of a handler session is a secret, so this key has no value.
  | "session_id"
  | "state"
  | "supported"
  | "type"
  | "version"
  | "violations"
  | "wire_error"
  | "workflow_id";

export type ErrorMetadata = Readonly<Partial<Record<MetadataKey, string>>>;

export interface EngineErrorOptions {
  /** The variable parts of the message, for machines. */
  readonly metadata?: ErrorMetadata;
  readonly violations?: readonly FieldViolation[];
  /** How long the caller should wait before it tries again. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly reason: Reason;
  readonly metadata: ErrorMetadata;
  readonly violations: readonly FieldViolation[];
  readonly retryAfterMs: number | undefined;

  constructor(reason: Reason, message: string, options: EngineErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.metadata = options.metadata ?? {};
    this.violations = options.violations ?? [];
    this.retryAfterMs = options.retryAfterMs;
  }

  /** Whether the same call may succeed later. */
  get retryable(): boolean {
    return REASONS[this.reason].retryable;
  }
}

/** INPUT_INVALID that names one field. */
export const invalidField = (field: string, reason: string, description: string): EngineError =>
  new EngineError("INPUT_INVALID", `${field}: ${description}`, {
    metadata: { field },
    violations: [{ field, reason, description }],
  });
