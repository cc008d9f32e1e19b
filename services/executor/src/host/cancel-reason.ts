// Why an attempt was aborted, in the words of the protocol. The reason of an abort signal has the fact: run/attempt.ts aborts for a timeout
// and for moderation, work/assignments.ts for everything from outside.

import { CancelReason } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { ABORTS } from "../work/assignments.ts";

const REASONS: ReadonlyMap<string, CancelReason> = new Map([
  [ABORTS.cancelled, CancelReason.CANCELLED],
  [ABORTS.claimLost, CancelReason.CLAIM_LOST],
  [ABORTS.gone, CancelReason.CLAIM_LOST],
  [ABORTS.stopping, CancelReason.DRAINED],
  ["moderation", CancelReason.BLOCKED],
]);

/** The reason of Cancel for the reason of an abort signal. */
export function cancelReasonOf(reason: unknown): CancelReason {
  if (!(reason instanceof DOMException)) return CancelReason.CANCELLED;
  if (reason.name === "TimeoutError") return CancelReason.TIMEOUT;
  return REASONS.get(reason.message) ?? CancelReason.CANCELLED;
}
