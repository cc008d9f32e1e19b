// What may arrive at the scheduler: everything that can change a run, each with the way to answer whoever sent it.

import { unreachable } from "@pawl/core/fault/invariant";
import type { Fact, RecoveryReason, RunKind } from "@pawl/core/log/event";
import type { DefinitionId, ExecutorId, NodeId, RunId } from "@pawl/core/name/ids";
import type { Outcome } from "@pawl/core/plan/result";
import type { StreamedFact } from "@pawl/platform/store/journal";

/** Names one claim, as executors do. */
export interface Claim {
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly iteration: number;
  readonly epoch: number;
}

/** Called once the input is committed, refused or given up. */
export interface Answer<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** What a start is answered with. */
export interface Started {
  readonly runId: RunId;
  /** Whether this request had started a run before. */
  readonly duplicate: boolean;
  /** How far the run's log reached when it was accepted; 0 for a duplicate. */
  readonly lastSeq: number;
}

export interface StartInput {
  readonly kind: "start";
  readonly runId: RunId;
  readonly tenantId: string;
  readonly definitionId: DefinitionId;
  readonly workflowId: string | null;
  readonly workflowVersion: number;
  readonly runKind: RunKind;
  readonly priority: number;
  readonly requestId: string | null;
  readonly requestHash: string | null;
  readonly traceparent: string | null;
  readonly deadlineAt: number;
  readonly started: Extract<Fact, { type: "run.started" }>;
  readonly answer: Answer<Started>;
}

export interface OutcomeInput {
  readonly kind: "outcome";
  readonly claim: Claim;
  readonly outcome: Outcome;
  /** In [0, 1]; drawn at the door, so that a repeated tick decides the same. */
  readonly jitter: number;
  readonly answer: Answer<"settled" | "stale">;
}

export interface StreamedInput {
  readonly kind: "streamed";
  readonly fact: StreamedFact;
  readonly answer: Answer<void>;
}

export interface LostInput {
  readonly kind: "lost";
  readonly claim: Claim;
  readonly reason: RecoveryReason;
  readonly executorId: ExecutorId;
  readonly answer: Answer<void>;
}

export interface CancelInput {
  readonly kind: "cancel";
  readonly runId: RunId;
  readonly reason: string;
  readonly requestId: string;
  readonly answer: Answer<"cancelled" | "finished">;
}

export interface DeadlineInput {
  readonly kind: "deadline";
  readonly runId: RunId;
  readonly answer: Answer<void>;
}

export type Input =
  | StartInput
  | OutcomeInput
  | StreamedInput
  | LostInput
  | CancelInput
  | DeadlineInput;

/** The run an input is about. */
export function runOf(input: Input): RunId {
  switch (input.kind) {
    case "start":
    case "cancel":
    case "deadline":
      return input.runId;
    case "outcome":
    case "lost":
      return input.claim.runId;
    case "streamed":
      return input.fact.runId;
    default:
      return unreachable(input, "input");
  }
}
