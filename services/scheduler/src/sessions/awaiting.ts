// The report of an executor that a node waits for a signal. The scheduler opens most of these waits itself.

import { LIMITS } from "@pawl/core/data/limits";
import { isSignalName } from "@pawl/core/definition/signal-config";
import type { Outcome } from "@pawl/core/plan/result";
import type { AwaitSignal } from "@pawl/proto/pawl/worker/v1/worker_service_pb";

/** A wait without a valid name is a failure, because no signal could end it. */
export function awaitingOf(wire: AwaitSignal, durationMs: number): Outcome {
  const { name } = wire;
  if (!isSignalName(name)) {
    const message = "the executor named no signal";
    return { kind: "failed", cause: "output_invalid", message, permanent: true, durationMs };
  }
  const timeoutMs = Math.min(Number(wire.timeoutMs), LIMITS.signalTimeoutMsMax);
  return { kind: "awaiting", name, durationMs, ...(timeoutMs === 0 ? {} : { timeoutMs }) };
}
