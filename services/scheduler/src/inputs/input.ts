// Inputs are everything that can change a run. Each has a way to answer its sender.
import type { MetadataResult } from "@pawl/core/plan/metadata";
import type { Raise, RaiseResult } from "@pawl/core/plan/raise";
import type { Graph } from "@pawl/core/definition/graph";
import { unreachable } from "@pawl/core/fault/invariant";
import type { PauseNote, RecoveryReason, StopMode } from "@pawl/core/log/event";
import type { AcceptedRun, AcceptedStart } from "@pawl/core/log/start";
import type { ApprovalId, ExecutorId, NodeId, RunId } from "@pawl/core/name/ids";
import type { Outcome } from "@pawl/core/plan/result";
import type { SignalArrival, SignalResult } from "@pawl/core/plan/signal";
import type { ApprovalPlace } from "@pawl/platform/store/approvals/approvals";
import type { EffectBegin, EffectCommit } from "@pawl/platform/store/effects/effects";
import type { StreamedFact } from "@pawl/platform/store/log/log";
import type { Extension } from "@pawl/platform/store/leases/leases";
import type { EffectStanding } from "@pawl/core/policy/effect";
import type { TestGraph } from "@pawl/platform/store/runs/runs";
import type { WaitKey } from "@pawl/platform/store/signals/signals";
import type { NodeAnswer } from "@pawl/platform/wire/requests";

/** The key of one claim, as executors use it. */
export interface Claim {
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly iteration: number;
  readonly epoch: number;
}

/** A claim, with the executor that reports about it. */
export interface NamedClaim extends Claim {
  readonly executorId: ExecutorId;
}

export interface Answer<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** Answers the sender of an input; called after the commit. */
export type Reply = () => void;

/** The answer to a start: the new run, or the run that the same request started before. */
export type StartAnswer =
  | ({ readonly duplicate: false } & AcceptedRun)
  | { readonly duplicate: true; readonly runId: RunId };

export interface StartInput {
  readonly kind: "start";
  readonly start: AcceptedStart;
  /** The graph of a test run, saved with it. */
  readonly test?: { readonly graph: Graph; readonly row: TestGraph };
  readonly answer: Answer<StartAnswer>;
}

export interface OutcomeInput {
  readonly kind: "outcome";
  readonly claim: NamedClaim;
  readonly outcome: Outcome;
  /** A random number in [0, 1]. It is drawn when the outcome arrives, so a repeated tick decides the same. */
  readonly jitter: number;
  /** The types of the executor whose outputs are data from outside. */
  readonly externalTypes?: ReadonlySet<string>;
  readonly answer: Answer<"settled" | "stale">;
}

/** Whether the executor holds the claim, has ended it with an outcome, or has lost it. */
export type Standing = "held" | "settled" | "stale";
type Refused = Exclude<Standing, "held">;

export interface StreamedInput {
  readonly kind: "streamed";
  readonly fact: StreamedFact;
  readonly answer: Answer<Standing>;
}

export interface BeginInput {
  readonly kind: "begin_effect";
  readonly effect: EffectBegin;
  readonly answer: Answer<EffectStanding | Refused>;
}

export interface CommitInput {
  readonly kind: "commit_effect";
  readonly effect: EffectCommit;
  readonly answer: Answer<"committed" | "not_begun" | Refused>;
}

export interface ExtendInput {
  readonly kind: "extend";
  readonly extension: Extension;
  readonly answer: Answer<Standing>;
}

/** Inputs that only the lease judges. */
export type FencedInput = StreamedInput | BeginInput | CommitInput | ExtendInput;

export const isFenced = (input: Input): input is FencedInput =>
  input.kind === "streamed" ||
  input.kind === "begin_effect" ||
  input.kind === "commit_effect" ||
  input.kind === "extend";

export type LostAnswer = "taken" | "stale";

export interface LostInput {
  readonly kind: "lost";
  readonly claim: Claim;
  /** `overdue` means that the executor lives and holds the claim past its node's timeout. */
  readonly reason: RecoveryReason | "overdue";
  readonly executorId: ExecutorId;
  readonly answer: Answer<LostAnswer>;
}

interface CancelInput {
  readonly kind: "cancel";
  readonly runId: RunId;
  readonly reason: string;
  readonly requestId: string;
  readonly compensate?: boolean | undefined;
  readonly stop?: StopMode | undefined;
  readonly answer: Answer<"cancelled" | "finished">;
}

/** Whether a decision was applied, repeats an earlier one, or why it was refused. */
export type DecideAnswer =
  | "accepted"
  | "repeated"
  | "decided_otherwise"
  | "timed_out"
  | "needs_response"
  | "needs_reason"
  | "takes_no_response"
  | "not_held"
  | "finished"
  | "no_node"
  | "no_run";

export interface DecideInput extends NodeAnswer {
  readonly kind: "decide";
  /** Set if the caller named the approval and not the node. */
  readonly approvalId?: ApprovalId;
  readonly answer: Answer<DecideAnswer>;
}

/** An approval whose deadline has passed by the store's clock. */
export interface DueInput extends ApprovalPlace {
  readonly kind: "due";
  readonly answer: Answer<void>;
}

/** Whether the run took the signal, or why it refused it. */
export type SignalAnswer =
  | { readonly kind: "accepted"; readonly isKept: boolean }
  | Exclude<SignalResult, { readonly kind: "accepted" }>
  | { readonly kind: "no_run" };

export interface SignalInput extends Omit<SignalArrival, "now"> {
  readonly kind: "signal";
  readonly runId: RunId;
  readonly answer: Answer<SignalAnswer>;
}

/** A wait for a signal whose deadline has passed by the store's clock. */
export interface SignalDueInput extends WaitKey {
  readonly kind: "signal_due";
  readonly answer: Answer<void>;
}

export type PauseAnswer = "done" | "held_by_workflow" | "finished" | "no_run";

export interface PauseInput {
  readonly kind: "pause" | "resume";
  readonly runId: RunId;
  readonly note: PauseNote;
  readonly answer: Answer<PauseAnswer>;
}

export type RaiseAnswer = Exclude<RaiseResult["kind"], "accepted"> | "raised" | "no_run";

export interface RaiseInput {
  readonly kind: "raise";
  readonly runId: RunId;
  readonly raise: Raise;
  readonly answer: Answer<RaiseAnswer>;
}

export interface MetadataInput {
  readonly kind: "metadata";
  readonly runId: RunId;
  /** The text of a JSON object to merge. */
  readonly patch: string;
  readonly answer: Answer<MetadataResult["kind"] | "no_run">;
}

/** A deadline that may have passed, or a child run that has ended while its parent seems to wait for it. */
interface CheckInput {
  readonly kind: "deadline" | "relink";
  readonly runId: RunId;
  readonly answer: Answer<void>;
}

/** Executions that seem to be queued and have no job. */
export interface ResendInput {
  readonly kind: "resend";
  readonly runId: RunId;
  readonly executions: readonly {
    readonly nodeId: NodeId;
    readonly iteration: number;
    /** The seq of its `node.queued`. The tick ignores an execution that was queued again since. */
    readonly queuedSeq: number;
  }[];
  readonly answer: Answer<void>;
}

export type Input =
  | StartInput
  | OutcomeInput
  | FencedInput
  | LostInput
  | CancelInput
  | DecideInput
  | DueInput
  | SignalInput
  | SignalDueInput
  | CheckInput
  | ResendInput
  | RaiseInput
  | MetadataInput
  | PauseInput;

/** The run of an input. */
export function runOf(input: Input): RunId {
  switch (input.kind) {
    case "start":
      return input.start.runId;
    case "cancel":
    case "decide":
    case "due":
    case "signal":
    case "signal_due":
    case "pause":
    case "resume":
    case "raise":
    case "metadata":
    case "deadline":
    case "resend":
    case "relink":
      return input.runId;
    case "outcome":
    case "lost":
      return input.claim.runId;
    case "streamed":
      return input.fact.runId;
    case "begin_effect":
    case "commit_effect":
      return input.effect.runId;
    case "extend":
      return input.extension.runId;
    default:
      return unreachable(input, "input");
  }
}

/** The runs that inputs are about, each once. */
export const runsOf = (inputs: readonly Input[]): RunId[] => [...new Set(inputs.map(runOf))];

/** Refuses an input about a run that does not exist, or an input that the run's state does not allow any more. */
export function refusal(input: Exclude<Input, StartInput>): Reply {
  switch (input.kind) {
    case "outcome":
    case "lost":
    case "streamed":
    case "begin_effect":
    case "commit_effect":
    case "extend":
      return () => input.answer.resolve("stale");
    case "cancel":
      return () => input.answer.resolve("finished");
    case "decide":
    case "pause":
    case "resume":
    case "raise":
    case "metadata":
      return () => input.answer.resolve("no_run");
    case "signal":
      return () => input.answer.resolve({ kind: "no_run" });
    case "due":
    case "signal_due":
    case "deadline":
    case "resend":
    case "relink":
      return () => input.answer.resolve();
    default:
      return unreachable(input, "input");
  }
}

/** Refuses all inputs with one error. */
export function rejectAll(inputs: readonly Input[], error: unknown): void {
  for (const input of inputs) input.answer.reject(error);
}
