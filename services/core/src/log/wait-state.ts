// The parts of a run's state that are about waits: holds that a person decides, and signals.

import type { ApprovalId } from "../name/ids.ts";
import type { ApprovalRequest, NodeDecision, NodeHold } from "./event.ts";

/** A hold that a person has to decide. */
export interface HoldState {
  readonly reason: string;
  readonly epoch: number;
  readonly output: string | undefined;
  readonly ending: NodeHold;
  /** Undefined in logs of versions without approvals. */
  readonly approval: ApprovalRequest | undefined;
  /** The end of the time to answer. */
  readonly deadlineAt: number | undefined;
}

/** A wait for a signal. */
export interface WaitState {
  readonly name: string;
  readonly since: number;
  /** The end of the time to wait. */
  readonly deadlineAt: number | undefined;
}

/** A signal that no execution has taken yet. */
export interface KeptSignal {
  readonly name: string;
  /** The payload as JSON text. */
  readonly json: string;
  /** The size of `json` in UTF-8. */
  readonly bytes: number;
  readonly at: number;
}

/** How a hold ended. */
export interface DecidedState {
  readonly decision: NodeDecision;
  readonly requestId: string;
  readonly approvalId: ApprovalId | undefined;
  /** The response as JSON text, if the person gave one. */
  readonly response: string | undefined;
}
