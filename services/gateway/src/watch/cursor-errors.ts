// The errors about the position of a reader in a log.

import { EngineError } from "@pawl/core/fault/engine-error";

/** Checks that a position is inside the log. @throws CURSOR_OUT_OF_RANGE */
export function checkWithin(seq: number, lastSeq: number): void {
  if (seq <= lastSeq) return;
  throw new EngineError(
    "CURSOR_OUT_OF_RANGE",
    `The log ends at event ${lastSeq}; event ${seq} is beyond it.`,
    { metadata: { cursor: String(seq), last_event_id: String(lastSeq) } },
  );
}

/** The error of a stream that ends early, with the cursor for the next call. A stream that showed nothing yet has the cursor "". */
export function withCursor(error: unknown, cursor: string): unknown {
  if (!(error instanceof EngineError) || cursor === "") return error;
  return new EngineError(error.reason, error.message, {
    metadata: { ...error.metadata, cursor },
    violations: error.violations,
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    cause: error,
  });
}
