// The events of one node execution: the payload of each type, and its row of the event table. The user's JSON (items, output,
// details) is not in the payload: the event carries it as text in `value`.

import { isRecord } from "../data/path.ts";
import type { FailureClass } from "../fault/class.ts";
import type { ApprovalId, ExecutorId, RunId } from "../name/ids.ts";
import type { SomeAmounts } from "../policy/budget.ts";
import type { Limits } from "../policy/limit.ts";
import type { Taint } from "../policy/taint.ts";
import type {
  ApprovalRequest,
  Completion,
  Media,
  NodeDecision,
  NodeHold,
  SignalRequest,
  SkipReason,
  TakenSignal,
  Usage,
} from "./event.ts";
import type { Cause, EventRows } from "./event-table.ts";
import type { Quoting } from "./failing.ts";

/** The payloads of `node.*` and of the checks of a node. Times are milliseconds since 1970. */
export interface NodePayloads {
  /** Only the first `node.queued` of an execution has `slot` and `rate`. They apply to all its attempts. */
  readonly "node.queued": {
    readonly notBefore?: number;
    /** What the execution may use of its budgets. It settles when its claim ends. */
    readonly reserved?: SomeAmounts;
  } & Limits;
  /** `wave` is the node's topological depth. `taint`: the labels of the data that the claim reads. */
  readonly "node.started": {
    readonly executorId: ExecutorId;
    readonly wave?: number;
    readonly taint?: Taint;
  };
  /** value: the items as a JSON array. `cut`: the limit cut the list, so the node fails after the last item. */
  readonly "node.expanded": {
    readonly width: number;
    readonly cut?: boolean;
    readonly taint?: Taint;
  };
  /** Text, or media with an empty text. */
  readonly "node.stream.delta": {
    readonly deltaIndex: number;
    readonly text: string;
    readonly media?: Media;
    /** How many bytes were over the limit and are lost. */
    readonly cutBytes?: number;
  };
  readonly "node.log": {
    readonly logIndex: number;
    readonly level: string;
    readonly message: string;
    /** How many bytes were over the limit and are lost. */
    readonly cutBytes?: number;
  };
  readonly "node.retried": {
    readonly cause: string;
    readonly message: string;
    readonly delayMs: number;
    readonly usage?: Usage;
    /** The scheduler queues the next attempt when its budget has room. */
    readonly awaitsBudget?: true;
  } & Quoting;
  /** value: the output. */
  readonly "node.completed": Completion & TakenSignal;
  /** value: details, if there are any. */
  readonly "node.failed": {
    readonly cause: string;
    /** The class, if it is not that of the cause: the handler made the failure final. */
    readonly failureClass?: FailureClass;
    readonly message: string;
    readonly usage?: Usage;
  } & TakenSignal &
    Quoting;
  readonly "node.cancelled": { readonly reason: string };
  readonly "node.skipped": { readonly reason: SkipReason };
  /** The message is set if the attempts are used up. value: details, if there are any. */
  readonly "node.timed_out": {
    readonly timeoutMs: number;
    readonly message?: string;
    readonly usage?: Usage;
  } & Quoting;
  /** The execution waits for a child run, for a signal or, if `phase` is set, for a person. value: the held output, or the details of an approval. */
  readonly "node.blocked": {
    readonly reason: string;
    readonly childRunId?: RunId;
    /** The child run may undo its nodes when it is cancelled. A run that is compensated waits for it. */
    readonly compensates?: true;
    readonly approval?: ApprovalRequest;
    readonly signal?: SignalRequest;
    /** What the child run may use of the budgets of this run. */
    readonly reserved?: SomeAmounts;
  } & Partial<NodeHold>;
  /** value: the person's response, if there is one. */
  readonly "node.decided": {
    readonly decision: NodeDecision;
    /** Why the node was held. */
    readonly reason: string;
    readonly comment: string;
    readonly requestId: string;
    /** The name that the person gave. */
    readonly decidedBy?: string;
    readonly approvalId?: ApprovalId;
    /** The labels that the person dropped for this execution. The comment has the reason. */
    readonly dropped?: readonly string[];
    /** The scheduler queues the released execution when its budget has room. */
    readonly awaitsBudget?: true;
  };
  /** A round of the node is over, and it is pending again. Its iteration is that of the round. */
  readonly "node.invalidated": { readonly reason: string };
  /**
   * An execution wrote the run's memory beside its output. value: a JSON object with the value of each key. `replaced` names the keys
   * whose value replaces the earlier one, whatever merge the workflow has for them.
   */
  readonly "memory.updated": {
    readonly keys: readonly string[];
    readonly replaced?: readonly string[];
    /** The labels of each value that has some. */
    readonly taint?: Readonly<Record<string, Taint>>;
  };
  /** value: the finding. */
  readonly "moderation.flagged": { readonly phase: "input" | "output" };
  /** value: the list of errors. */
  readonly "contract.violated": { readonly phase: "input" | "output" };
}

const CLAIM: readonly Cause[] = ["node.started"];
const WORK: readonly Cause[] = ["node.started", "node.blocked", "node.decided", "node.expanded"];
/** A glue node ends or begins to wait without a claim. A node that fails or leaves by handle `error` may never have run, or lost its executor. */
const UNCLAIMED: readonly Cause[] = [
  "settled",
  "run.started",
  "run.thread.taken",
  "run.signalled",
  "run.recovered",
  "node.queued",
  "node.retried",
  "node.invalidated",
];
const END: readonly Cause[] = [...UNCLAIMED, ...WORK];

export const NODE_EVENTS = {
  "node.queued": {
    node: "queued",
    tag: ({ attempt }) => ({ attempt }),
    causes: [
      "settled",
      ...WORK.slice(1),
      "run.started",
      "run.status.changed",
      "run.recovered",
      "node.retried",
      "node.invalidated",
    ],
    aliases: ["NODE_DISPATCHED"],
  },
  "node.started": {
    node: "running",
    tag: ({ attempt, payload: { wave = 0 } }) => ({ attempt, wave }),
    causes: ["node.queued"],
  },
  "node.expanded": {
    node: "waiting",
    tag: ({ payload: { width } }) => ({ width }),
    valueKey: "items",
    causes: ["settled", "run.started", "node.queued", "node.invalidated", ...CLAIM],
  },
  "node.stream.delta": { isStreamed: true, causes: CLAIM },
  "node.log": { isStreamed: true, causes: CLAIM },
  "node.retried": {
    node: "retrying",
    why: ({ cause, message }) => [cause, message],
    failure: ({ cause }) => ({ cause }),
    tag: ({ attempt, payload: { cause, delayMs } }) => ({ attempt, cause, delay_ms: delayMs }),
    causes: WORK,
  },
  "node.completed": {
    node: "completed",
    tag: ({ payload: { durationMs, usage } }) => ({
      duration_ms: durationMs,
      input_tokens: usage?.inputTokens ?? 0,
      output_tokens: usage?.outputTokens ?? 0,
    }),
    valueKey: "output",
    causes: END,
  },
  "node.failed": {
    node: "failed",
    why: ({ cause, message }) => [cause, message],
    failure: (payload) => payload,
    tag: ({ payload: { cause, message } }) => ({ error_code: cause, error_message: message }),
    causes: END,
  },
  "node.cancelled": {
    node: "cancelled",
    why: ({ reason }) => ["", reason],
    tag: () => ({}),
  },
  "node.skipped": {
    node: "skipped",
    why: ({ reason }) => [reason, ""],
    tag: ({ payload: { reason } }) => ({ reason }),
    causes: ["settled", "run.started", "node.invalidated"],
  },
  "node.timed_out": {
    node: "timed_out",
    why: ({ timeoutMs, message = `timed out after ${timeoutMs} ms` }) => ["timeout", message],
    failure: () => ({ cause: "timeout" }),
    tag: ({ payload: { timeoutMs } }) => ({ timeout_ms: timeoutMs }),
    tagName: "timed_out",
    causes: ["settled", ...WORK],
  },
  "node.blocked": {
    node: "waiting",
    why: ({ reason }) => [reason, ""],
    tag: ({ payload: { reason } }) => ({ reason }),
    // A glue node waits, or a policy about labels holds a node, without a claim.
    causes: [...UNCLAIMED, ...CLAIM, "node.expanded", "node.retried"],
  },
  "node.decided": { isAboutNode: true, causes: ["node.blocked"] },
  "node.invalidated": {
    node: "invalidated",
    why: ({ reason }) => [reason, ""],
    tag: ({ payload: { reason } }) => ({ reason }),
    causes: ["node.completed", "node.invalidated"],
  },
  "memory.updated": {
    tag: ({ payload: { keys } }) => ({ keys }),
    valueKey: "values",
    // A repaired run takes over the writes of a node, but not the question to a person behind which they came.
    causes: ["settled", "node.blocked", "node.expanded", "node.invalidated", "run.started"],
  },
  "moderation.flagged": {
    tag: ({ value, payload: { phase } }) => ({ ...objectOf(value), phase }),
    isTaggedByValue: true,
    causes: CLAIM,
  },
  "contract.violated": {
    tag: ({ value, payload: { phase } }) => ({ phase, errors: listOf(value) }),
    isTaggedByValue: true,
    valueKey: "errors",
    causes: CLAIM,
  },
} as const satisfies EventRows<NodePayloads>;

function objectOf(json = "{}"): object {
  const value: unknown = JSON.parse(json);
  return isRecord(value) ? value : {};
}

function listOf(json = "[]"): readonly unknown[] {
  const value: unknown = JSON.parse(json);
  return Array.isArray(value) ? value : [];
}
