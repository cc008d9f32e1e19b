// Why the host aborts a function, in the words of the signal's reason.

import { Cancelled } from "@pawl/core/handler/failure";
import { CancelReason } from "@pawl/proto/pawl/handler/v1/handler_service_pb";

export type CancelWord = "cancelled" | "timeout" | "claim_lost" | "blocked" | "drained";

const WORDS: ReadonlyMap<CancelReason, CancelWord> = new Map([
  [CancelReason.TIMEOUT, "timeout"],
  [CancelReason.CLAIM_LOST, "claim_lost"],
  [CancelReason.BLOCKED, "blocked"],
  [CancelReason.DRAINED, "drained"],
]);

/** The word of a reason; one that this build does not know is a plain cancel. */
export const wordOf = (reason: CancelReason): CancelWord => WORDS.get(reason) ?? "cancelled";

/** The reason of the signal of a handler process; it says why the host cancelled. */
export class CancelledBy extends Cancelled {
  readonly reason: CancelWord;

  constructor(reason: CancelWord) {
    super(`the invocation was cancelled: ${reason}`);
    this.reason = reason;
  }
}
