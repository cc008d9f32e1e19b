// The events of a run as a whole: the payload of each type, and its row of the event table. The user's JSON (input, output) is not
// in the payload: the event carries it as text in `value`.

import type { ExecutorId } from "../name/ids.ts";
import type { Limits } from "../policy/limit.ts";
import type {
  ParentLink,
  PauseNote,
  RecoveryReason,
  RunKind,
  RunStatus,
  ScheduleLink,
} from "./event.ts";
import type { Cause, EventRows } from "./event-table.ts";

/** The payloads of `run.*`. Times are milliseconds since 1970. */
export interface RunPayloads {
  /** value: the run's input. A run with a `slot` or a `rate` is `pending` until the scheduler admits it. */
  readonly "run.started": {
    readonly definitionDigest: string;
    readonly workflowVersion: number;
    readonly kind: RunKind;
    readonly deadlineAt: number;
    /** How often the run may repeat, if the caller set another bound than the definition. */
    readonly maxIterations?: number;
    /** Set if the caller asked that the same input starts only one run. */
    readonly inputKey?: string;
    /** The node execution that waits for this run. */
    readonly parent?: ParentLink;
    /** How many runs are above this one. */
    readonly depth?: number;
    readonly schedule?: ScheduleLink;
  } & Limits;
  /** `deadlineAt` is set if the deadline moved (`clock.ts`). The note is set if a user paused or resumed the run. */
  readonly "run.status.changed": {
    readonly from: RunStatus;
    readonly to: RunStatus;
    readonly deadlineAt?: number;
  } & Partial<PauseNote>;
  /** value: the run's output. */
  readonly "run.completed": { readonly hasFailures: boolean };
  /** `cause` is set where the run failed although its nodes did not: it repeated too often. */
  readonly "run.failed": {
    readonly failedNodeId: string;
    readonly message: string;
    readonly cause?: string;
  };
  readonly "run.cancelled": { readonly reason: string; readonly requestId: string };
  readonly "run.timed_out": { readonly deadlineAt: number };
  /** The scheduler took back a claim of the node execution that the event names. */
  readonly "run.recovered": {
    readonly reason: RecoveryReason;
    readonly executorId: ExecutorId;
    readonly lostDeliveries: number;
  };
  /** value: the JSON object to merge. Reserved: no service writes it yet. */
  readonly "run.metadata.set": Readonly<Record<string, never>>;
}

const END: readonly Cause[] = ["settled", "run.status.changed", "memory.updated"];

export const RUN_EVENTS = {
  "run.started": {
    runOf: ({ slot, rate }) => ((slot ?? rate) === undefined ? "running" : "pending"),
    tag: () => ({}),
    valueKey: "input",
    causes: [],
    aliases: ["INPUT_SET"],
  },
  "run.status.changed": {
    runOf: ({ to }) => to,
    tag: ({ payload: { from, to } }) => ({ from, to }),
  },
  "run.completed": {
    run: "completed",
    tag: ({ payload: { hasFailures } }) => ({ has_failures: hasFailures }),
    valueKey: "output",
    causes: END,
  },
  "run.failed": {
    run: "failed",
    why: ({ cause = "", message }) => [cause, message],
    tag: ({ payload: { message } }) => ({ error_message: message }),
    causes: END,
  },
  "run.cancelled": {
    run: "cancelled",
    why: ({ reason }) => ["", reason],
    tag: ({ payload: { reason } }) => ({ reason }),
    causes: END,
  },
  "run.timed_out": {
    run: "timeout",
    why: () => ["", "the run passed its deadline"],
    tag: () => ({}),
    causes: END,
  },
  "run.recovered": {
    node: "retrying",
    why: ({ reason }) => [reason, ""],
    tag: ({ payload: { reason } }) => ({ reason }),
    causes: ["node.started"],
  },
  "run.metadata.set": { valueKey: "metadata", aliases: ["SYSTEM_SET"] },
} as const satisfies EventRows<RunPayloads>;
