// Dead letters: node executions that lost too many executors. The tick writes them with the node.failed of their execution
// (`Transaction.bury`). A redrive or a discard closes each once; a second one finds it closed.

import type { ExecutorId, NodeId, RunId } from "@pawl/core/name/ids";

export type DeadLetterState = "open" | "redriven" | "discarded";

/** A node execution that the scheduler gives up. */
export interface NewDeadLetter {
  readonly deadLetterId: string;
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly iteration: number;
  readonly attempt: number;
  readonly nodeType: string;
  /** How many deliveries were lost. */
  readonly deliveries: number;
  /** The executor that lost it last. */
  readonly executorId: ExecutorId;
  /** How that executor lost it. */
  readonly reason: string;
  readonly errorMessage: string;
}

/** A dead letter as its row has it. Times are milliseconds since the epoch. */
export interface DeadLetterRecord extends NewDeadLetter {
  /** Null for a test run. */
  readonly workflowId: string | null;
  readonly diedAt: number;
  readonly state: DeadLetterState;
  readonly redriveRunId: RunId | null;
  readonly closedAt: number | null;
}

/** An open dead letter, with what its run would be started again as. */
export interface OpenDeadLetter extends DeadLetterRecord {
  readonly workflowVersion: number;
  readonly priority: number;
  readonly hasEnded: boolean;
  /** Whether there is something to start. */
  readonly hasWorkflow: boolean;
}

export interface DeadLetterFilter {
  /** Empty means all. */
  readonly ids: readonly string[];
  /** Empty means all. */
  readonly workflowId: string;
  /** Empty means all. */
  readonly nodeType: string;
  /** Only those that died before. */
  readonly beforeMs: number | undefined;
}

/** A dead letter that a request closed. */
export interface ClosedDeadLetter {
  readonly deadLetterId: string;
  /** Null when it was discarded. */
  readonly redriveRunId: RunId | null;
}

export interface DeadLetterPage {
  readonly deadLetters: readonly DeadLetterRecord[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

export interface DeadLetters {
  /** Open ones, oldest first; those that no redrive can take come last. */
  open(tenantId: string, filter: DeadLetterFilter, limit: number): Promise<OpenDeadLetter[]>;
  /** Closes those that are open, as redriven when there is a run and as discarded when not; gives their ids. */
  close(
    tenantId: string,
    ids: readonly string[],
    by: { readonly requestId: string; readonly redriveRunId: RunId | null },
  ): Promise<string[]>;
  /** Those that a request has closed so far, oldest first. */
  closedBy(tenantId: string, requestId: string): Promise<ClosedDeadLetter[]>;
  /** The input of a run as JSON text; undefined when there is no such run. */
  inputOf(runId: RunId): Promise<string | undefined>;
}

/** Why a redrive leaves a dead letter as it is; undefined when it does not. */
export function whyLeft(
  letter: OpenDeadLetter,
): "run_live" | "test_run" | "workflow_deleted" | undefined {
  if (letter.workflowId === null) return "test_run";
  if (!letter.hasWorkflow) return "workflow_deleted";
  return letter.hasEnded ? undefined : "run_live";
}
