// Dead letters: node executions that lost too many executors. The tick writes them with the node.failed of their execution
// (`Transaction.bury`). A redrive or a discard closes each letter once. A second one finds it closed.

import type { RunOrigin } from "../log/log.ts";
import type { ExecutorId, NodeId, RunId } from "@pawl/core/name/ids";
import { flag, number, orNull, text, time, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";
import type { Page } from "../page.ts";

export type DeadLetterState = "open" | "redriven" | "discarded";

/** A node execution that the scheduler gives up. */
export const NEW_DEAD_LETTER = {
  deadLetterId: uuid(),
  runId: uuid<RunId>(),
  nodeId: text<NodeId>(),
  iteration: number(),
  attempt: number(),
  nodeType: text(),
  /** How many deliveries were lost. */
  deliveries: number(),
  /** The executor that lost it last. */
  executorId: uuid<ExecutorId>(),
  /** How that executor lost it. */
  reason: text(),
  errorMessage: text(),
};
/** The columns of a dead letter. */
export const DEAD_LETTER = {
  ...NEW_DEAD_LETTER,
  /** Null for a test run. */
  workflowId: orNull(text()),
  diedAt: time(),
  state: text<DeadLetterState>(),
  redriveRunId: orNull(uuid<RunId>()),
  closedAt: orNull(time()),
};
/** An open dead letter, and how a redrive would start its run again. */
export const OPEN = {
  ...DEAD_LETTER,
  workflowVersion: number(),
  priority: number(),
  hasEnded: flag(),
  /** Whether the workflow still exists. */
  hasWorkflow: flag(),
};
/** A dead letter that a request closed. `redriveRunId` is null if the request discarded it. */
export const CLOSED = { deadLetterId: uuid(), redriveRunId: orNull(uuid<RunId>()) };

export type NewDeadLetter = Typed<typeof NEW_DEAD_LETTER>;
export type DeadLetterRecord = Typed<typeof DEAD_LETTER>;
export type OpenDeadLetter = Typed<typeof OPEN>;
type ClosedDeadLetter = Typed<typeof CLOSED>;
export type DeadLetterPage = Page<DeadLetterRecord>;

export interface DeadLetterFilter {
  /** Empty means all. */
  readonly ids: readonly string[];
  /** Empty means all. */
  readonly workflowId: string;
  /** Empty means all. */
  readonly nodeType: string;
  /** Only letters from before this time. */
  readonly beforeMs: number | undefined;
}

export interface DeadLetters {
  /** Open letters, oldest first. Those that a redrive cannot start again come last. */
  open(tenantId: string, filter: DeadLetterFilter, limit: number): Promise<OpenDeadLetter[]>;
  /** Closes the open letters: as redriven if there is a run, otherwise as discarded. Returns their ids. */
  close(
    tenantId: string,
    ids: readonly string[],
    by: { readonly requestId: string; readonly redriveRunId: RunId | null },
  ): Promise<string[]>;
  /** The letters that a request has closed so far, oldest first. */
  closedBy(tenantId: string, requestId: string): Promise<ClosedDeadLetter[]>;
  /** How a run began. Undefined if there is no such run. */
  originOf(runId: RunId): Promise<RunOrigin | undefined>;
}

/** Why a redrive skips a dead letter. Undefined if the redrive can start its run again. */
export function whyLeft(
  letter: OpenDeadLetter,
): "run_live" | "test_run" | "workflow_deleted" | undefined {
  if (letter.workflowId === null) return "test_run";
  if (!letter.hasWorkflow) return "workflow_deleted";
  return letter.hasEnded ? undefined : "run_live";
}
