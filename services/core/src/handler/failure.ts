// How a handler fails. For an expected failure it throws `Failed` with a cause. A time limit of the handler itself, or of a library it calls,
// is a user_timeout. Any other throw is a provider_error. A throw after the signal is a cancellation.
//
// Race: Pawl's limit passes while a limit of the handler passes. The signal decides: a throw after it never counts as the handler's own limit.

import type { Cause } from "../fault/cause.ts";
import { isTimeout } from "./own-timeout.ts";

/** A cause of Pawl, or the handler's own cause, best with a dot in it (`acme.card_declined`). */
type FailureCause = Cause | (string & Record<never, never>);

export interface FailedOptions {
  /** Do not retry, even if the policy allows it. */
  readonly permanent?: boolean | undefined;
  /** A retry waits at least this long, up to an hour. */
  readonly retryAfterMs?: number | undefined;
  /** JSON for people and for nodes behind the handle `error`. */
  readonly details?: unknown;
  /** With the cause timeout: the limit that passed, if it is the handler's own and not the node's. */
  readonly timeoutMs?: number | undefined;
}

/** A failure with a cause. */
export class Failed extends Error {
  override readonly name = "Failed";
  override readonly cause: FailureCause;
  readonly options: FailedOptions;

  constructor(cause: FailureCause, message: string, options: FailedOptions = {}) {
    super(message);
    this.cause = cause;
    this.options = options;
  }
}

/** The invocation was cancelled, or its claim is lost. End soon, and make no effect. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";

  constructor(message = "the invocation was cancelled") {
    super(message);
  }
}

/** A failure as a value. */
export interface HandlerFailure {
  readonly failed: FailedOptions & {
    readonly cause: string;
    readonly message: string;
    readonly permanent: boolean;
  };
}

/** A failure as a value. */
export const failure = (
  cause: FailureCause,
  message: string,
  options: FailedOptions = {},
): HandlerFailure => ({
  failed: { ...options, cause, message, permanent: options.permanent === true },
});

const FRAMES_MAX = 10;

/** The failure for a throw. */
export function failureOf(error: unknown, signal: AbortSignal): HandlerFailure {
  if (error instanceof Failed) return failure(error.cause, error.message, error.options);
  if (error instanceof Cancelled || signal.aborted) return failure("cancelled", describe(error));
  const frames = framesOf(error);
  return failure(
    isTimeout(error) ? "user_timeout" : "provider_error",
    describe(error),
    frames.length === 0 ? {} : { details: { frames } },
  );
}

/** The class and the message of a thrown value. */
export function describe(error: unknown): string {
  try {
    if (error instanceof Error) return `${error.name}: ${error.message}`;
    return typeof error === "object" && error !== null
      ? "the handler threw an object"
      : `the handler threw ${String(error)}`;
  } catch {
    return "the handler threw something that cannot be described";
  }
}

function framesOf(error: unknown): string[] {
  try {
    if (!(error instanceof Error)) return [];
    const lines = (error.stack ?? "").split("\n").map((line) => line.trim());
    return lines.filter((line) => line.startsWith("at ")).slice(0, FRAMES_MAX);
  } catch {
    return [];
  }
}
