// The one error class: "this call cannot go on, for this reason". Expected outcomes are values, not errors.

import { REASONS, type Reason } from "./reason.ts";

/** A request field at fault; becomes google.rpc.BadRequest. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
  /** UPPER_SNAKE rule that was broken. */
  readonly reason: string;
}

export interface EngineErrorOptions {
  /** Everything dynamic in the message, for machines. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly violations?: readonly FieldViolation[];
  /** How long a caller should wait before it tries again. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly reason: Reason;
  readonly metadata: Readonly<Record<string, string>>;
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

/** INPUT_INVALID naming one field. */
export const invalidField = (field: string, reason: string, description: string): EngineError =>
  new EngineError("INPUT_INVALID", `${field}: ${description}`, {
    metadata: { field },
    violations: [{ field, reason, description }],
  });
