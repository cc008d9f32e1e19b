// The fields of a run's state. `workflow-state.ts` fills them from the folded log.

import type { RunStatus } from "./event.ts";

/** Why a run makes no progress by itself. If there are several reasons, the first of this list counts. */
export const WAITING_REASONS = [
  "paused",
  "human_approval",
  "moderation",
  "signal",
  "child_run",
  "thread",
  "budget",
  "slot",
  "retry",
  "delay",
] as const;
export type WaitingReason = (typeof WAITING_REASONS)[number];

/** What undoes a node that completed. */
interface CompensationEntry {
  readonly actionId: string;
  readonly compensationAction: { readonly type: string; readonly payloadJson: string };
}

/** One decision of a supervisor node. */
interface SupervisorDecision {
  readonly nodeId: string;
  /** The node that it chose; empty if it ended the work. */
  readonly next: string;
  readonly reason: string;
  readonly at: number;
  readonly iteration: number;
  /** The handle by which it left. */
  readonly route: string;
  /** The event that has the decision. */
  readonly eventId: number;
}

/** Times are milliseconds since 1970. A field is undefined if the run has no such value. */
export interface WorkflowState {
  /** Empty for a test run. */
  readonly workflowId: string;
  readonly runId: string;
  readonly goal: string;
  readonly constraints: readonly string[];
  readonly status: RunStatus;
  /** The node at work that started last; empty if no node is at work. */
  readonly currentNode: string;
  /** Every node at work, at most a thousand. */
  readonly currentNodes: readonly string[];
  readonly iterationCount: number;
  readonly maxIterations: number;
  readonly startedAt: number | undefined;
  readonly maxExecutionTimeMs: number;
  readonly retryCount: number;
  /** Retries by node, of nodes that have any. */
  readonly retries: Readonly<Record<string, number>>;
  /** How often the current node may be retried; without one, the bound of the run, if it has one. */
  readonly maxRetries: number | undefined;
  readonly lastError: string;
  readonly compensationStack: readonly CompensationEntry[];
  readonly waitingFor: WaitingReason | undefined;
  readonly waitingSince: number | undefined;
  readonly waitingTimeoutAt: number | undefined;
  readonly totalTokensUsed: number;
  readonly maxTokenBudget: number | undefined;
  readonly totalCostUsd: number;
  readonly budgetUsd: number | undefined;
  /** A JSON object as text. */
  readonly memoryJson: string;
  /** The newest visits, in order, and how many earlier ones are left out. */
  readonly visitedNodes: readonly string[];
  readonly visitedNodesLeftOut: number;
  readonly supervisorHistory: readonly SupervisorDecision[];
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The event up to which the log was folded. */
  readonly eventId: number;
}
