// The shape of an event. A fact has a type, a place (node, iteration, attempt, claim) and a payload. `event-table.ts` lists the types. The
// engine writes the payload. The user's JSON (input, output, details) is text in `value`, and the log does not change it.

import type { Action } from "../action/kinds.ts";
import type { ApprovalId, NodeId, RunId } from "../name/ids.ts";
import type { Taint } from "../policy/taint.ts";
import { rowOf, typesWhere, type Payloads } from "./event-table.ts";
import type { Failing } from "./failing.ts";

/** Statuses of a run. No event gives `scheduled` or `retrying`: the fold derives them (`run-status.ts`). */
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

/** Statuses of a node execution. An event gives `invalidated` to an earlier round of a node; the node itself is then pending again. */
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

export type RunKind = "saved" | "test" | "temporary";

/** Why the scheduler took a claim back. */
export type RecoveryReason = "lease_expired" | "stream_broken" | "released" | "not_held";

/** A picture, sound or other file that a handler streams: an address or a data: URL, and its media type. */
export interface Media {
  readonly url: string;
  readonly mime: string;
}

/** What an attempt used: the tokens that models read and wrote, and what they cost. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The cost in micro-dollars. Absent if no price is known. */
  readonly costMicros?: number;
  /** The model. Absent if the handler named none, or several. */
  readonly model?: string;
  /** The node executions of a child run. */
  readonly executions?: number;
}

/** The node execution that a child run was started for. */
export interface ParentLink {
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly iteration: number;
}

/** How a run ends after its compensation. `completed` is the end of a run that only undoes an execution of another run. */
export type Ending =
  | ({ readonly end: "failed" } & Failing)
  | ({
      readonly end: "cancelled";
      readonly reason: string;
      readonly requestId: string;
    } & Stopped)
  | { readonly end: "timeout"; readonly deadlineAt: number }
  | { readonly end: "completed" };

/** How a cancelled run was stopped: an interrupt keeps its results, a rollback discards them. Absent for a plain cancellation. */
export type StopMode = "interrupt" | "rollback";
export interface Stopped {
  readonly stop?: StopMode;
}

/** The thread of a run, and its place among the runs of the thread, from 1. */
export interface ThreadLink {
  readonly threadId: string;
  readonly position: number;
  /** It gives the thread up while it only waits for people or signals (`thread.ts`). */
  readonly yields?: true;
}

/** What the compensation of a run undid, and what it could not undo. */
export interface Compensated {
  readonly compensation?: {
    /** How many executions were undone, and how many were not. */
    readonly undone: number;
    readonly left: number;
    /** The first of those that were not, and why. */
    readonly named: readonly LeftExecution[];
  };
}

interface LeftExecution {
  readonly nodeId: NodeId;
  readonly iteration: number;
  readonly why: string;
}

/** The occurrence of a schedule that started a run, or the time at which a user triggered it. */
export interface ScheduleLink {
  readonly scheduleId: string;
  readonly at: number;
}

/** The run that a run repairs, and the digest of the plan by which it does. */
export interface RepairLink {
  readonly runId: RunId;
  readonly planDigest: string;
}

/** The user who set the output of a node by hand, and the reason. */
export interface SetNote {
  readonly who: string;
  readonly reason: string;
}

/** How a hold ends: a person approves or rejects, or the time to answer is up. */
export type NodeDecision = "approve" | "reject" | "timeout";

/**
 * Why a node is blocked. Moderation or a policy about labels asked for a person, or an approval asks one. A subworkflow waits for its run.
 * A node waits for a signal.
 */
export const MODERATION_HOLD = "moderation_hold";
export const TAINT_HOLD = "taint_hold";
export const APPROVAL = "approval";
export const CHILD_RUN = "child_run";
export const SIGNAL = "signal";

/** The question to a person that opens a hold. */
export interface ApprovalRequest {
  readonly approvalId: ApprovalId;
  readonly message: string;
  /** The names by which people find their questions. */
  readonly assignees: readonly string[];
  /** How long the question stays open, counted from the event. Unlimited if absent. */
  readonly deadlineMs?: number;
}

/** The signal that an execution waits for. */
export interface SignalRequest {
  readonly name: string;
  /** How long the execution waits, counted from the event. Unlimited if absent. */
  readonly timeoutMs?: number;
}

/** The end of an execution that took a signal, by the request id of the signal. */
export interface TakenSignal {
  readonly signal?: string;
}

/** How a handler completed. */
export interface Completion {
  readonly durationMs: number;
  /** The handle of the node. Absent if the node chose none. */
  readonly handle?: string;
  /** How long the next nodes wait. */
  readonly queueDelayMs?: number;
  readonly usage?: Usage;
  /** Whether this iteration ends its loop. */
  readonly stop?: boolean;
  /** The node that runs next, in place of the nodes behind this one. */
  readonly goto?: Goto;
  /** The labels of the output, or of the data that a person must release. Absent if there are none. */
  readonly taint?: Taint | undefined;
  /** A sanitize node dropped these labels. */
  readonly sanitized?: Sanitized;
  /** A user set the output by hand when the run was repaired. No handler ran. */
  readonly set?: SetNote;
  /** The tools that a turn of an agent calls, in order. Absent if the turn is the last. */
  readonly calls?: readonly ToolCall[];
}

/** The labels that a node dropped, and why they may go. */
export interface Sanitized {
  readonly labels: readonly string[];
  readonly reason: string;
}

/** A call of a tool that the model of an agent asks for. Its arguments are in the output of the turn, at the same place. */
export interface ToolCall {
  /** The model's name for the call. */
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  /** Why the tool cannot run: no such tool, or arguments that do not fit. The model gets it as the result of the call. */
  readonly fault?: string;
}

/** A node asked that another one runs next. */
export interface Goto {
  readonly nodeId: NodeId;
  /** `handoff`: the node gives its task away, and does not expect to go on with it. */
  readonly kind: "goto" | "handoff";
  readonly reason: string;
}

/** An execution that waits for a person, and the facts with which it completes when the person approves its output. */
export interface NodeHold extends Completion {
  /** `input`: the handler has not run yet. `output`: the handler has run, and its output waits. */
  readonly phase: "input" | "output";
  /** Actions that commit with the output, if a person approves it. */
  readonly actions?: readonly Action[];
}

/** The user who paused or resumed a run, and the reason. */
export interface PauseNote {
  /** Set if the scheduler paused the run because its budget was short. */
  readonly waitingFor?: "budget";
  /** `run`: this run only. `workflow`: every run of the workflow. They resume together. */
  readonly scope: "run" | "workflow";
  /** The user. The key is not `by`, because `by` of every payload is its cause (`Caused`). */
  readonly who: string;
  readonly reason: string;
}

/** The fields that every payload may have. */
interface Caused {
  /** The cause of the event, if its place does not imply it (`cause.ts`): a seq, or a negative distance. */
  readonly by?: number;
  /** The run repairs another one and took the fact over: its seq in the log of that run. */
  readonly reused?: number;
}

export type SkipReason = "untaken_branch" | "parent_not_completed";
export type EventType = keyof Payloads;

/** The place of an event. `nodeId` is "" and the numbers are 0 for events of the run. */
export interface EventPlace {
  readonly nodeId: NodeId | "";
  readonly iteration: number;
  readonly attempt: number;
  /** The claim under which an executor caused the event. For node.started it is its own seq. 0 if no executor caused it. */
  readonly epoch: number;
}

/** A fact of one type that is not in the log yet. */
export type FactOf<T extends EventType> = EventPlace & {
  readonly type: T;
  readonly payload: Payloads[T] & Caused;
  /** The user's JSON as text. */
  readonly value?: string;
};

/** Any fact that is not in the log yet. */
export type Fact = { [T in EventType]: FactOf<T> }[EventType];

/** A fact in the log. `seq` counts from 1 within the run without gaps. It is the event id and the cursor. */
export type RunEvent = Fact & { readonly runId: RunId; readonly seq: number; readonly at: number };

/** The part of a logged fact that the folds need: a RunEvent, or a fact that has just got its seq. */
export type LoggedFact = Fact & { readonly seq: number; readonly at: number };

/** The name of a heartbeat on streams. It is never in the log. */
export const HEARTBEAT = "heartbeat";

/** The statuses that a run never leaves. */
export const FINAL_STATUSES: ReadonlySet<string> = new Set<RunStatus>([
  "completed",
  "failed",
  "cancelled",
  "timeout",
]);
const SETTLED_NODE: ReadonlySet<NodeStatus> = new Set([
  "completed",
  "failed",
  "timed_out",
  "cancelled",
  "skipped",
]);

/** True for a status that a run never leaves. */
export const isFinal = (status: RunStatus): boolean => FINAL_STATUSES.has(status);
/** True for a status in which a node counts as settled for its joins. */
export const isSettled = (status: NodeStatus): boolean => SETTLED_NODE.has(status);

/** The facts that end a log. Each is its last event. */
export const TERMINAL_TYPES = typesWhere(({ run }) => run !== undefined && isFinal(run));

const terminal: ReadonlySet<string> = new Set(TERMINAL_TYPES);

/** True for a fact that ends the log. */
export const isTerminalType = (type: string): boolean => terminal.has(type);
/** True for a fact that the scheduler does not fold. */
export const isStreamedType = (type: string): boolean => rowOf(type)?.isStreamed === true;
