// The events of a run as a whole: the payload of each type, and its row of the event table. The user's JSON (input, output) is not
// in the payload: the event carries it as text in `value`.

import type { Cause as FailureCause } from "../fault/cause.ts";
import type { ExecutorId, RunId } from "../name/ids.ts";
import type { Budget, DayFunds, SomeAmounts } from "../policy/budget.ts";
import type { Limits } from "../policy/limit.ts";
import type { Taint } from "../policy/taint.ts";
import type {
  Compensated,
  Ending,
  ParentLink,
  PauseNote,
  RecoveryReason,
  RepairLink,
  RunKind,
  RunStatus,
  ScheduleLink,
  StopMode,
  Stopped,
  ThreadLink,
} from "./event.ts";
import type { AssistantLink } from "./assistant.ts";
import type { Cause, EventRows } from "./event-table.ts";
import type { Failing } from "./failing.ts";

/** The payloads of `run.*`. Times are milliseconds since 1970. */
export interface RunPayloads {
  /** value: the run's input. A run with a `startAt`, a `thread`, a `slot`, a `rate` or a `daily` budget is `pending` until it is admitted. */
  readonly "run.started": {
    readonly definitionDigest: string;
    readonly workflowVersion: number;
    readonly kind: RunKind;
    readonly deadlineAt: number;
    /** How often the run may repeat, if the caller set another bound than the definition. */
    readonly maxIterations?: number;
    /** How long the run may take, how often an execution may be retried, the goal and the constraints, if the caller set them. */
    readonly deadlineMs?: number;
    readonly maxRetries?: number;
    readonly goal?: string;
    readonly constraints?: readonly string[];
    /** How much the run may use. Absent if nothing limits it. */
    readonly budget?: Budget;
    /** Set if the caller asked that the same input starts only one run. */
    readonly inputKey?: string;
    /** The node execution that waits for this run. */
    readonly parent?: ParentLink;
    /** How many runs are above this one. */
    readonly depth?: number;
    readonly schedule?: ScheduleLink;
    /** The assistant that the run was started by, as it was then. */
    readonly assistant?: AssistantLink;
    /** The thread that the run takes before it begins. */
    readonly thread?: ThreadLink;
    /** The run does not begin before. */
    readonly startAt?: number;
    /** The labels of the input. */
    readonly taint?: Taint;
    /** The run that this one repairs. Facts with `reused` follow in the same commit. */
    readonly repair?: RepairLink;
    /** The run only undoes this execution of another run. value: `{"input", "output"}` of that run and that execution. */
    readonly undoes?: ParentLink;
    /** The events that the webhooks of the run and of its workflow get. */
    readonly webhookEvents?: readonly string[];
  } & Limits;
  /**
   * `deadlineAt` is set if the deadline moved (`clock.ts`). The note is set if a user paused or resumed the run. `ending` is set when a
   * compensation begins: the run ends so afterwards.
   */
  readonly "run.status.changed": {
    readonly from: RunStatus;
    readonly to: RunStatus;
    readonly deadlineAt?: number;
    readonly ending?: Ending;
    /** What the run reserves of the daily budget of its workflow, when it begins. */
    readonly dayFunds?: DayFunds;
  } & Partial<PauseNote>;
  /** value: the run's output. */
  readonly "run.completed": { readonly hasFailures: boolean; readonly taint?: Taint } & Compensated;
  readonly "run.failed": Failing & Compensated;
  readonly "run.cancelled": { readonly reason: string; readonly requestId: string } & Compensated &
    Stopped;
  readonly "run.timed_out": { readonly deadlineAt: number } & Compensated;
  /** The scheduler took back a claim of the node execution that the event names. */
  readonly "run.recovered": {
    readonly reason: RecoveryReason;
    readonly executorId: ExecutorId;
    readonly lostDeliveries: number;
    /** The scheduler queues the execution again when its budget has room. */
    readonly awaitsBudget?: true;
  };
  /** The run took its thread. value: a JSON object with the memory of the thread, which replaces that of the run. */
  readonly "run.thread.taken": {
    readonly threadId: string;
    /** The run of the thread whose end left this memory. */
    readonly fromRunId?: RunId;
    /** The labels of each value that has some. */
    readonly taint?: Readonly<Record<string, Taint>>;
  };
  /** A user raised the budget of the run. The amounts are added to its limits. The event names the node if it is for its child run. */
  readonly "run.budget.raised": SomeAmounts & {
    readonly requestId: string;
    readonly who: string;
    readonly reason: string;
  };
  /** A caller sent the run a signal. value: its payload. The digest tells a repeat of the request from another one with its id. */
  readonly "run.signalled": {
    readonly name: string;
    readonly requestId: string;
    readonly digest: string;
  };
  /** A user changed what the run is found by. value: the JSON object to merge. */
  readonly "run.metadata.set": Readonly<Record<string, never>>;
}

const END: readonly Cause[] = [
  "settled",
  "run.started",
  "run.status.changed",
  "run.budget.raised",
  "run.recovered",
  "run.signalled",
  "node.retried",
  "node.blocked",
  "memory.updated",
  "run.thread.taken",
];

/** The cause of the end of a cancelled run. */
export const stopCause = (stop: StopMode | undefined): FailureCause =>
  stop === undefined ? "cancelled" : STOP_CAUSES[stop];
const STOP_CAUSES: Readonly<Record<StopMode, FailureCause>> = {
  interrupt: "interrupted",
  rollback: "rolled_back",
};
/** The cause of the end of a run whose deadline passed. */
export const DEADLINE_PASSED: FailureCause = "deadline_passed";

export const RUN_EVENTS = {
  "run.started": {
    runOf: ({ slot, rate, daily, thread, startAt, undoes }) => {
      if (undoes !== undefined) return "compensating";
      return (slot ?? rate ?? daily ?? thread ?? startAt) === undefined ? "running" : "pending";
    },
    tag: () => ({}),
    valueKey: "input",
    causes: [],
    aliases: ["INPUT_SET"],
  },
  "run.thread.taken": {
    tag: ({ payload: { threadId } }) => ({ thread_id: threadId }),
    valueKey: "memory",
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
    failure: ({ cause, failureClass }) =>
      cause === undefined ? undefined : { cause, ...(failureClass && { failureClass }) },
    tag: ({ payload: { message } }) => ({ error_message: message }),
    causes: END,
  },
  "run.cancelled": {
    run: "cancelled",
    why: ({ reason }) => ["", reason],
    failure: ({ stop }) => ({ cause: stopCause(stop) }),
    tag: ({ payload: { reason } }) => ({ reason }),
    causes: END,
  },
  "run.timed_out": {
    run: "timeout",
    why: () => ["", "the run passed its deadline"],
    failure: () => ({ cause: DEADLINE_PASSED }),
    tag: () => ({}),
    causes: END,
  },
  "run.recovered": {
    node: "retrying",
    why: ({ reason }) => [reason, ""],
    tag: ({ payload: { reason } }) => ({ reason }),
    causes: ["node.started"],
  },
  "run.signalled": {
    tag: ({ payload: { name } }) => ({ name }),
    valueKey: "payload",
  },
  "run.budget.raised": {
    tag: ({ payload: { tokens = 0, costMicros = 0, executions = 0 } }) => ({
      tokens,
      cost_micros: costMicros,
      node_executions: executions,
    }),
  },
  "run.metadata.set": { valueKey: "metadata", aliases: ["SYSTEM_SET"] },
} as const satisfies EventRows<RunPayloads>;
