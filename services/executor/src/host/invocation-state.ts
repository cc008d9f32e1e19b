// The states of an invocation: the table of docs/reference/handler-protocol.md as data. The host does not keep an invocation that is done.

export type InvocationState = "queued" | "running" | "cancelled" | "done";

export type InvocationEvent =
  /** The host writes the Invoke to a stream. */
  | "written"
  /** Partial or Log. */
  | "output"
  /** EffectBegin or EffectCommit. */
  | "effect"
  /** Result or Failure. */
  | "answer"
  /** Ended. */
  | "ended"
  /** A cancel, a timeout, a lost claim or moderation ends the attempt. */
  | "abort";

export interface Step {
  readonly next: InvocationState;
  readonly act:
    | "none"
    /** Pass the item on. */
    | "pass"
    /** Drop the item without a count. */
    | "drop"
    /** Drop the item and count it. */
    | "late"
    /** Answer REVOKED. */
    | "revoke"
    /** Give the answer to the attempt. */
    | "settle"
    /** The process broke the protocol: the attempt fails. */
    | "broken"
    /** Take the Invoke back: the process never sees it. */
    | "withdraw"
    /** Send Cancel. */
    | "cancel";
}

type Row = Readonly<Record<InvocationEvent, Step>>;

/** No item can come before the Invoke was written: such an item names an invocation that the process made up. */
const QUEUED: Row = {
  written: { next: "running", act: "none" },
  output: { next: "queued", act: "late" },
  effect: { next: "queued", act: "late" },
  answer: { next: "queued", act: "late" },
  ended: { next: "queued", act: "drop" },
  abort: { next: "done", act: "withdraw" },
};

const RUNNING: Row = {
  written: { next: "running", act: "none" },
  output: { next: "running", act: "pass" },
  effect: { next: "running", act: "pass" },
  answer: { next: "done", act: "settle" },
  ended: { next: "done", act: "broken" },
  abort: { next: "cancelled", act: "cancel" },
};

const CANCELLED: Row = {
  written: { next: "cancelled", act: "none" },
  output: { next: "cancelled", act: "drop" },
  effect: { next: "cancelled", act: "revoke" },
  answer: { next: "done", act: "late" },
  ended: { next: "done", act: "none" },
  abort: { next: "cancelled", act: "none" },
};

const DONE: Row = {
  written: { next: "done", act: "none" },
  output: { next: "done", act: "late" },
  effect: { next: "done", act: "late" },
  answer: { next: "done", act: "late" },
  ended: { next: "done", act: "drop" },
  abort: { next: "done", act: "none" },
};

const ROWS: Readonly<Record<InvocationState, Row>> = {
  queued: QUEUED,
  running: RUNNING,
  cancelled: CANCELLED,
  done: DONE,
};

/** What an event does to an invocation in this state. */
export const stepOf = (state: InvocationState, event: InvocationEvent): Step => ROWS[state][event];
