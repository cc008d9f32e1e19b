// What may arrive at the scheduler: everything that can change a run, each with the way to answer whoever sent it.

import type { Graph } from "@pawl/core/definition/graph";
import { unreachable } from "@pawl/core/fault/invariant";
import type {
  Fact,
  NodeDecision,
  ParentLink,
  RecoveryReason,
  RunKind,
  ScheduleLink,
  PauseNote,
} from "@pawl/core/log/event";
import type { ApprovalId, DefinitionId, ExecutorId, NodeId, RunId } from "@pawl/core/name/ids";
import type { Outcome } from "@pawl/core/plan/result";
import type { EffectBegin, EffectCommit } from "@pawl/platform/store/effects/effects";
import type { StreamedFact } from "@pawl/platform/store/log/log";
import type { Extension } from "@pawl/platform/store/leases/leases";
import type { EffectStanding } from "@pawl/core/policy/effect";
import type { TestGraph } from "@pawl/platform/store/runs/runs";

/** Names one claim, as executors do. */
export interface Claim {
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly iteration: number;
  readonly epoch: number;
}

/** A claim in the name of the executor that says something about it. */
export interface NamedClaim extends Claim {
  readonly executorId: ExecutorId;
}

/** Called once the input is committed, refused or given up. */
export interface Answer<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** Answers the sender of an input; called after the commit. */
export type Reply = () => void;

/** What a start is answered with. */
export interface Started {
  readonly runId: RunId;
  /** Whether this request had started a run before. */
  readonly duplicate: boolean;
  /** How far the run's log reached when it was accepted; 0 for a duplicate. */
  readonly lastSeq: number;
  /** Whether it began paused, since its workflow is. */
  readonly isPaused: boolean;
}

export interface StartInput {
  readonly kind: "start";
  readonly runId: RunId;
  readonly tenantId: string;
  readonly definitionId: DefinitionId;
  readonly workflowId: string | null;
  readonly workflowVersion: number;
  /** Planned on a remembered newest version, to be proved by the commit. */
  readonly assumesNewest: boolean;
  readonly runKind: RunKind;
  readonly priority: number;
  readonly requestId: string | null;
  readonly requestHash: string | null;
  readonly traceparent: string | null;
  readonly deadlineAt: number;
  /** The graph of a test run, saved with it. */
  readonly test?: { readonly graph: Graph; readonly row: TestGraph };
  /** Where the caller asked that the same input starts nothing again for so long. */
  readonly inputKey?: { readonly key: string; readonly ttlMs: number };
  /** The node execution that waits for it. */
  readonly parent?: ParentLink;
  /** The occurrence that starts it. */
  readonly schedule?: ScheduleLink;
  readonly started: Extract<Fact, { type: "run.started" }>;
  readonly answer: Answer<Started>;
}

export interface OutcomeInput {
  readonly kind: "outcome";
  readonly claim: NamedClaim;
  readonly outcome: Outcome;
  /** In [0, 1]; drawn at the door, so that a repeated tick decides the same. */
  readonly jitter: number;
  readonly answer: Answer<"settled" | "stale">;
}

/** Whether a claim holds, has ended with its own outcome, or is somebody else's. */
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

/** What only its lease judges. */
export type FencedInput = StreamedInput | BeginInput | CommitInput | ExtendInput;

export const isFenced = (input: Input): input is FencedInput =>
  input.kind === "streamed" ||
  input.kind === "begin_effect" ||
  input.kind === "commit_effect" ||
  input.kind === "extend";

export interface LostInput {
  readonly kind: "lost";
  readonly claim: Claim;
  /** `overdue`: its executor lives and has it, and it is past its node's timeout. */
  readonly reason: RecoveryReason | "overdue";
  readonly executorId: ExecutorId;
  readonly answer: Answer<"taken" | "stale">;
}

export interface CancelInput {
  readonly kind: "cancel";
  readonly runId: RunId;
  readonly reason: string;
  readonly requestId: string;
  readonly answer: Answer<"cancelled" | "finished">;
}

/** How a decision was taken: applied, said before, or why it was not. */
export type DecideAnswer =
  | "accepted"
  | "repeated"
  | "decided_otherwise"
  | "timed_out"
  | "needs_response"
  | "takes_no_response"
  | "not_held"
  | "finished"
  | "no_node"
  | "no_run";

export interface DecideInput {
  readonly kind: "decide";
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly iteration: number;
  readonly decision: Exclude<NodeDecision, "timeout">;
  readonly comment: string;
  readonly requestId: string;
  /** Where the caller named the question and not the node. */
  readonly approvalId?: ApprovalId;
  /** JSON text that fits the node's schema. */
  readonly responseJson?: string;
  readonly decidedBy?: string;
  readonly answer: Answer<DecideAnswer>;
}

/** An approval whose deadline has passed by the store's clock. */
export interface DueInput {
  readonly kind: "due";
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly iteration: number;
  readonly approvalId: ApprovalId;
  readonly answer: Answer<void>;
}

/** How a pause or a resumption was taken. */
export type PauseAnswer = "done" | "held_by_workflow" | "finished" | "no_run";

export interface PauseInput {
  readonly kind: "pause" | "resume";
  readonly runId: RunId;
  readonly note: PauseNote;
  readonly answer: Answer<PauseAnswer>;
}

export interface DeadlineInput {
  readonly kind: "deadline";
  readonly runId: RunId;
  readonly answer: Answer<void>;
}

/** Executions that are queued and, it seems, in no queue. */
export interface ResendInput {
  readonly kind: "resend";
  readonly runId: RunId;
  readonly executions: readonly {
    readonly nodeId: NodeId;
    readonly iteration: number;
    /** The seq of its `node.queued`: one that was queued anew since is somebody else's. */
    readonly queuedSeq: number;
  }[];
  readonly answer: Answer<void>;
}

/** A child run that is over and, it seems, still waited for. */
export interface RelinkInput {
  readonly kind: "relink";
  readonly runId: RunId;
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
  | DeadlineInput
  | ResendInput
  | RelinkInput
  | PauseInput;

/** The run an input is about. */
export function runOf(input: Input): RunId {
  switch (input.kind) {
    case "start":
    case "cancel":
    case "decide":
    case "due":
    case "pause":
    case "resume":
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

const COMMANDS: ReadonlySet<Input["kind"]> = new Set([
  "start",
  "cancel",
  "decide",
  "pause",
  "resume",
]);

/** Whether its sender waits for the answer, and may say it again. */
export const isCommand = ({ kind }: Input): boolean => COMMANDS.has(kind);

/** Answers all of them with the same refusal. */
export function rejectAll(inputs: readonly Input[], error: unknown): void {
  for (const input of inputs) input.answer.reject(error);
}
