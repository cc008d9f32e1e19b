// Dead letters on Postgres, over the pool.

import { invalidField } from "@pawl/core/fault/engine-error";
import { type ExecutorId, isUuid, type NodeId, type RunId } from "@pawl/core/name/ids";
import { type Queryable, run } from "../db/sql.ts";
import type {
  DeadLetterFilter,
  DeadLetterRecord,
  DeadLetters,
  DeadLetterState,
  NewDeadLetter,
  OpenDeadLetter,
} from "./dead-letters.ts";
import { fromPageToken, toPageToken } from "./page-token.ts";
import { closedDeadLettersOfRequest } from "./statements/closed-dead-letters-of-request.ts";
import { closeDeadLetters } from "./statements/close-dead-letters.ts";
import { readDeadLetters } from "./statements/read-dead-letters.ts";
import { readOpenDeadLetters } from "./statements/read-open-dead-letters.ts";
import { readRunInput } from "./statements/read-run-input.ts";
import type { Parameter } from "./tick-batch.ts";

interface DeadLetterRow {
  readonly dead_letter_id: string;
  readonly run_id: RunId;
  readonly workflow_id: string | null;
  readonly node_id: NodeId;
  readonly iteration: number;
  readonly attempt: number;
  readonly node_type: string;
  readonly deliveries: number;
  readonly executor_id: ExecutorId;
  readonly reason: string;
  readonly error_message: string;
  readonly died_at: Date;
  readonly state: DeadLetterState;
  readonly redrive_run_id: RunId | null;
  readonly closed_at: Date | null;
}

interface OpenRow extends DeadLetterRow {
  readonly workflow_version: number;
  readonly priority: number;
  readonly has_ended: boolean;
  readonly has_workflow: boolean;
}

const toDeadLetter = (row: DeadLetterRow): DeadLetterRecord => ({
  deadLetterId: row.dead_letter_id,
  runId: row.run_id,
  workflowId: row.workflow_id,
  nodeId: row.node_id,
  iteration: row.iteration,
  attempt: row.attempt,
  nodeType: row.node_type,
  deliveries: row.deliveries,
  executorId: row.executor_id,
  reason: row.reason,
  errorMessage: row.error_message,
  diedAt: row.died_at.getTime(),
  state: row.state,
  redriveRunId: row.redrive_run_id,
  closedAt: row.closed_at?.getTime() ?? null,
});

const toOpen = (row: OpenRow): OpenDeadLetter => ({
  ...toDeadLetter(row),
  workflowVersion: row.workflow_version,
  priority: row.priority,
  hasEnded: row.has_ended,
  hasWorkflow: row.has_workflow,
});

/** Dead letters of a transaction as the columns of their statement. */
export const buriedColumns = (letters: readonly NewDeadLetter[]): Parameter[] => [
  letters.map((each) => each.deadLetterId),
  letters.map((each) => each.runId),
  letters.map((each) => each.nodeId),
  letters.map((each) => each.iteration),
  letters.map((each) => each.attempt),
  letters.map((each) => each.nodeType),
  letters.map((each) => each.deliveries),
  letters.map((each) => each.executorId),
  letters.map((each) => each.reason),
  letters.map((each) => each.errorMessage),
];

const valuesOf = ({ ids, workflowId, nodeType, beforeMs }: DeadLetterFilter): unknown[] => [
  ids,
  workflowId,
  nodeType,
  beforeMs ?? null,
];

/** Dead letters over a pool. */
export const createDeadLetters = (db: Queryable): DeadLetters => ({
  open: async (tenantId, filter, limit) => {
    const values = [tenantId, limit, ...valuesOf(filter)];
    return (await run<OpenRow>(db, readOpenDeadLetters, values)).map(toOpen);
  },
  close: async (tenantId, ids, { requestId, redriveRunId }) => {
    const values = [tenantId, ids, redriveRunId, requestId];
    const rows = await run<{ dead_letter_id: string }>(db, closeDeadLetters, values);
    return rows.map((row) => row.dead_letter_id);
  },
  closedBy: async (tenantId, requestId) => {
    const rows = await run<Pick<DeadLetterRow, "dead_letter_id" | "redrive_run_id">>(
      db,
      closedDeadLettersOfRequest,
      [tenantId, requestId],
    );
    return rows.map((row) => ({
      deadLetterId: row.dead_letter_id,
      redriveRunId: row.redrive_run_id,
    }));
  },
  inputOf: async (runId) => {
    const [row] = await run<{ input: string | null }>(db, readRunInput, [runId]);
    return row === undefined ? undefined : (row.input ?? "null");
  },
});

export interface DeadLetterPage {
  readonly deadLetters: readonly DeadLetterRecord[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** Above every UUID that a dead letter can have. */
const AFTER_ALL = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Dead letters, newest first. @throws INPUT_INVALID for a token of another filter, STORE_UNAVAILABLE */
export async function listDeadLetters(
  db: Queryable,
  tenantId: string,
  filter: DeadLetterFilter & { readonly states: readonly DeadLetterState[] },
  page: { readonly size: number; readonly token: string },
): Promise<DeadLetterPage> {
  const states = [...new Set(filter.states)].toSorted();
  const bound = `dead-letters ${JSON.stringify([tenantId, states, ...valuesOf(filter)])}`;
  const before = page.token === "" ? AFTER_ALL : fromPageToken(page.token, bound);
  if (!isUuid(before)) throw invalidField("page_token", "BAD_PAGE_TOKEN", "is not a token");
  const values = [tenantId, before, page.size + 1, ...valuesOf(filter), states];
  const rows = await run<DeadLetterRow>(db, readDeadLetters, values);
  const deadLetters = rows.slice(0, page.size).map(toDeadLetter);
  const last = deadLetters.at(-1);
  const hasMore = rows.length > page.size && last !== undefined;
  return { deadLetters, nextPageToken: hasMore ? toPageToken(last.deadLetterId, bound) : "" };
}
