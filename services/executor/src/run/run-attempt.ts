// One attempt in the view of the work loop: its assignment, its messages, and its end.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Media } from "@pawl/core/log/event";
import type { Assignment, OutcomeSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { EffectDoor } from "@pawl/core/handler/served";

/** How an attempt ended, without its claim. */
export type AttemptResult = Required<Pick<Outcome, "result" | "durationMs">> &
  Pick<Outcome, "gates" | "usage">;
type Outcome = MessageInitShape<typeof OutcomeSchema>;

/** The messages that a running attempt may send. */
export interface AttemptHooks {
  readonly signal: AbortSignal;
  readonly emit: (text: string) => Promise<void>;
  readonly emitMedia: (media: Media) => Promise<void>;
  readonly log: (level: string, message: string) => void;
  /** The effect ledger. */
  readonly effects: EffectDoor;
  /** Keeps the lease of this one task for this long, even if renewals fail. */
  readonly extend: (extendMs: number) => Promise<void>;
}

/** Runs one attempt to its end. It must not reject, and must end soon after its signal is aborted. */
export type RunAttempt = (assignment: Assignment, hooks: AttemptHooks) => Promise<AttemptResult>;
