// The union of facts: the only list of event names. Everything a run knows is a fold of these.
// `payload` holds what the engine says, `value` holds what the user said (input, output, details) as JSON text that
// the engine carries but never parses.

import type { ApprovalId, ExecutorId, NodeId, RunId } from "../name/ids.ts";
import type { RateTicket, SlotTicket } from "../policy/gate.ts";

/** Terminal and intermediate run statuses (S2.28 and X8). */
export type RunStatus =
  | "pending"
  | "scheduled"
  | "running"
  | "waiting"
  | "retrying"
  | "paused"
  | "compensating"
  | "completed"
  | "failed"
  | "cancelled"
  | "timeout";

/** Node execution statuses (X8). */
export type NodeStatus =
  | "pending"
  | "queued"
  | "running"
  | "retrying"
  | "waiting"
  | "completed"
  | "failed"
  | "timed_out"
  | "cancelled"
  | "skipped"
  | "invalidated";

export type RunKind = "saved" | "test";

/** Why a claim was taken back. */
export type RecoveryReason = "lease_expired" | "stream_broken" | "released" | "not_held";

/** A picture, sound or other file that was streamed: an address or a data: URL, and its media type (S1.42). */
export interface Media {
  readonly url: string;
  readonly mime: string;
}

/** What a model counted (S1.58). */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The node execution that a child run was started for. */
export interface ParentLink {
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly iteration: number;
}

/** The occurrence of a schedule that started a run, or when it was triggered by hand. */
export interface ScheduleLink {
  readonly scheduleId: string;
  readonly at: number;
}

/** How a hold ends: a person approves or rejects, or the time for that is up. */
export type NodeDecision = "approve" | "reject" | "timeout";

/** The reason of a hold that moderation asked for. */
export const MODERATION_HOLD = "moderation_hold";
/** The reason of a hold that the node itself is. */
export const APPROVAL = "approval";

/** The question to a person that a hold is. */
export interface ApprovalRequest {
  readonly approvalId: ApprovalId;
  /** For people. */
  readonly message: string;
  /** By which people find what is theirs to answer. */
  readonly assignees: readonly string[];
  /** How long it stays open, from the event on; for ever where it does not say. */
  readonly deadlineMs?: number;
}

/** What is known of an execution that waits for a person, and with what it completes when its output is approved. */
export interface NodeHold {
  /** `input`: the handler has not run. `output`: it has, and its output waits. */
  readonly phase: "input" | "output";
  readonly durationMs: number;
  readonly handle?: string;
  readonly queueDelayMs?: number;
  readonly usage?: Usage;
  readonly stop?: boolean;
}

/** Who paused or resumed a run, and why. */
export interface PauseNote {
  /** `run`: this run alone. `workflow`: every run of its workflow, and it goes on with them. */
  readonly scope: "run" | "workflow";
  readonly who: string;
  readonly reason: string;
}

/** What each fact says, apart from the user's JSON in `value`. Times are milliseconds since the epoch. */
export interface Payloads {
  /** value: the run's input. */
  readonly "run.started": {
    readonly definitionDigest: string;
    readonly workflowVersion: number;
    readonly kind: RunKind;
    readonly deadlineAt: number;
    /** Where the caller asked that the same input starts nothing again (S1.59). */
    readonly inputKey?: string;
    /** The node execution that waits for this run, and how many runs are above it. */
    readonly parent?: ParentLink;
    readonly depth?: number;
    /** What the run waits for before anything of it is planned: it is `pending` until then. */
    readonly slot?: SlotTicket;
    readonly rate?: RateTicket;
    readonly schedule?: ScheduleLink;
  };
  /**
   * `deadlineAt` where the run goes on: moved by the time for which its clock stood (`log/clock.ts`). The rest where somebody
   * paused or resumed it.
   */
  readonly "run.status.changed": {
    readonly from: RunStatus;
    readonly to: RunStatus;
    readonly deadlineAt?: number;
  } & Partial<PauseNote>;
  /** value: the run's output. */
  readonly "run.completed": { readonly hasFailures: boolean };
  readonly "run.failed": { readonly failedNodeId: string; readonly message: string };
  readonly "run.cancelled": { readonly reason: string; readonly requestId: string };
  readonly "run.timed_out": { readonly deadlineAt: number };
  readonly "run.recovered": {
    readonly reason: RecoveryReason;
    readonly executorId: ExecutorId;
    readonly lostDeliveries: number;
  };
  /** value: the JSON object to merge. */
  readonly "run.metadata.set": Readonly<Record<string, never>>;
  /** `slot` and `rate` are said once, when an execution is first queued, and hold for all its attempts. */
  readonly "node.queued": {
    readonly notBefore?: number;
    readonly slot?: SlotTicket;
    readonly rate?: RateTicket;
  };
  /** `wave` is the node's topological depth. */
  readonly "node.started": { readonly executorId: ExecutorId; readonly wave?: number };
  /** value: the items as a JSON array. `cut`: there would be more, and running out of these is a failure. */
  readonly "node.expanded": { readonly width: number; readonly cut?: boolean };
  /** Text, or media with an empty text. */
  readonly "node.stream.delta": {
    readonly deltaIndex: number;
    readonly text: string;
    readonly media?: Media;
    /** Bytes that were over the limit and are lost. */
    readonly cutBytes?: number;
  };
  readonly "node.log": {
    readonly logIndex: number;
    readonly level: string;
    readonly message: string;
    /** Bytes that were over the limit and are lost. */
    readonly cutBytes?: number;
  };
  readonly "node.retried": {
    readonly cause: string;
    readonly message: string;
    readonly delayMs: number;
  };
  /** value: the output. `handle` is absent when the node declared none. */
  readonly "node.completed": {
    readonly durationMs: number;
    readonly handle?: string;
    readonly queueDelayMs?: number;
    readonly usage?: Usage;
    /** An iteration that ends its loop. */
    readonly stop?: boolean;
  };
  /** value: details, if any. */
  readonly "node.failed": { readonly cause: string; readonly message: string };
  readonly "node.cancelled": { readonly reason: string };
  readonly "node.skipped": { readonly reason: SkipReason };
  readonly "node.timed_out": { readonly timeoutMs: number };
  /**
   * The execution waits for something outside: a child run, or a person (`phase` is there then). value: the output that waits, or
   * the details of an approval.
   */
  readonly "node.blocked": {
    readonly reason: string;
    readonly childRunId?: RunId;
    readonly approval?: ApprovalRequest;
  } & Partial<NodeHold>;
  /** value: the response, if any. */
  readonly "node.decided": {
    readonly decision: NodeDecision;
    /** Why the node was held. */
    readonly reason: string;
    readonly comment: string;
    readonly requestId: string;
    /** Who says so, as they call themselves. */
    readonly decidedBy?: string;
    readonly approvalId?: ApprovalId;
  };
  readonly "node.invalidated": { readonly reason: string };
  /** value: the finding. */
  readonly "moderation.flagged": { readonly phase: "input" | "output" };
  /** value: the list of errors. */
  readonly "contract.violated": { readonly phase: "input" | "output" };
}

/** What a payload says of its cause, where that is not plain from its place (`cause.ts`): a seq, or below 0 a distance. */
export interface Caused {
  readonly by?: number;
}

export type SkipReason = "untaken_branch" | "parent_not_completed";
export type EventType = keyof Payloads;

/** What every event says about where it belongs. `nodeId` is "" and the numbers are 0 for events of the run. */
export interface EventPlace {
  readonly nodeId: NodeId | "";
  readonly iteration: number;
  readonly attempt: number;
  /** The claim under which an executor caused it; for node.started its own seq; 0 where none did. */
  readonly epoch: number;
}

/** A fact of one type, not yet in the log. */
export type FactOf<T extends EventType> = EventPlace & {
  readonly type: T;
  readonly payload: Payloads[T] & Caused;
  /** The user's JSON as text. */
  readonly value?: string;
};

/** Any fact, not yet in the log. */
export type Fact = { [T in EventType]: FactOf<T> }[EventType];

/** A fact in the log. `seq` is contiguous from 1 within the run: event id and cursor in one. */
export type RunEvent = Fact & { readonly runId: RunId; readonly seq: number; readonly at: number };

/** What the fold needs of a fact in the log: a RunEvent is one, and so is a fact that was just given its seq. */
export type LoggedFact = Fact & { readonly seq: number; readonly at: number };

/** The four facts that end a log; each is its last event. */
export const TERMINAL_TYPES = [
  "run.completed",
  "run.failed",
  "run.cancelled",
  "run.timed_out",
] as const satisfies readonly EventType[];

/** Facts that take a seq but are not folded and do not bump the run's version. */
export const STREAMED_TYPES = [
  "node.stream.delta",
  "node.log",
] as const satisfies readonly EventType[];

const terminal: ReadonlySet<string> = new Set(TERMINAL_TYPES);
const streamed: ReadonlySet<string> = new Set(STREAMED_TYPES);

/** True for a fact that ends the log. */
export const isTerminalType = (type: string): boolean => terminal.has(type);
/** True for a fact that the fold passes over. */
export const isStreamedType = (type: string): boolean => streamed.has(type);

/** The name of a heartbeat on streams; it is never in the log. */
export const HEARTBEAT = "heartbeat";

const FINAL_RUN: ReadonlySet<RunStatus> = new Set(["completed", "failed", "cancelled", "timeout"]);
const SETTLED_NODE: ReadonlySet<NodeStatus> = new Set([
  "completed",
  "failed",
  "timed_out",
  "cancelled",
  "skipped",
]);

/** True for a status a run never leaves (S2.30). */
export const isFinal = (status: RunStatus): boolean => FINAL_RUN.has(status);
/** True for a status with which a node counts as settled for its joins. */
export const isSettled = (status: NodeStatus): boolean => SETTLED_NODE.has(status);
