// Reads dead letters.

import type { ExecutorId, NodeId, RunId } from "@pawl/core/name/ids";
import { flag, list, number, orNull, text, time, uuid } from "../../db/columns.ts";
import { queriesBeside, run, type RowOf } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import { pageNewestFirst, type PageRequest } from "../page.ts";
import type {
  ClosedDeadLetter,
  DeadLetterFilter,
  DeadLetterPage,
  DeadLetterRecord,
  DeadLetterState,
  OpenDeadLetter,
} from "./dead-letters.ts";

const declare = queriesBeside(import.meta.url);

const COLUMNS = {
  dead_letter_id: uuid(),
  run_id: uuid<RunId>(),
  workflow_id: orNull(text()),
  node_id: text<NodeId>(),
  iteration: number(),
  attempt: number(),
  node_type: text(),
  deliveries: number(),
  executor_id: uuid<ExecutorId>(),
  reason: text(),
  error_message: text(),
  died_at: time(),
  state: text<DeadLetterState>(),
  redrive_run_id: orNull(uuid<RunId>()),
  closed_at: orNull(time()),
};
const FILTER = {
  tenantId: text(),
  ids: list(uuid()),
  workflowId: text(),
  nodeType: text(),
  beforeMs: orNull(number()),
  limit: number(),
};
const page = declare("page", { ...FILTER, states: list(text()), before: uuid() }, COLUMNS);
const open = declare("open", FILTER, {
  ...COLUMNS,
  workflow_version: number(),
  priority: number(),
  has_ended: flag(),
  has_workflow: flag(),
});
const countOpen = declare(
  "count_open",
  { tenantId: text() },
  { node_type: text(), count: number() },
);
const ofRequest = declare(
  "of_request",
  { tenantId: text(), requestId: text() },
  { dead_letter_id: uuid(), redrive_run_id: orNull(uuid<RunId>()) },
);

type Row = RowOf<typeof page>;

const toDeadLetter = (row: Row): DeadLetterRecord => ({
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

const valuesOf = ({ ids, workflowId, nodeType, beforeMs }: DeadLetterFilter) => ({
  ids,
  workflowId,
  nodeType,
  beforeMs: beforeMs ?? null,
});

/** Dead letters, newest first. @throws INPUT_INVALID for a token of another filter, STORE_UNAVAILABLE */
export async function listDeadLetters(
  db: Queryable,
  tenantId: string,
  filter: DeadLetterFilter & { readonly states: readonly DeadLetterState[] },
  asked: PageRequest,
): Promise<DeadLetterPage> {
  const states = [...new Set(filter.states)].toSorted();
  const values = { tenantId, states, ...valuesOf(filter) };
  const { rows, nextPageToken } = await pageNewestFirst<Row>(asked, {
    filter: `dead-letters ${JSON.stringify(Object.values(values))}`,
    keyOf: (row) => row.dead_letter_id,
    read: (before, limit) => run(db, page, { ...values, before, limit }),
  });
  return { deadLetters: rows.map(toDeadLetter), nextPageToken };
}

/** Open dead letters, oldest first; those that no redrive can take come last. @throws STORE_UNAVAILABLE */
export async function openDeadLetters(
  db: Queryable,
  tenantId: string,
  filter: DeadLetterFilter,
  limit: number,
): Promise<OpenDeadLetter[]> {
  const rows = await run(db, open, { tenantId, ...valuesOf(filter), limit });
  return rows.map((row) => ({
    ...toDeadLetter(row),
    workflowVersion: row.workflow_version,
    priority: row.priority,
    hasEnded: row.has_ended,
    hasWorkflow: row.has_workflow,
  }));
}

/** Open dead letters by node type, up to a bound. @throws STORE_UNAVAILABLE */
export async function countOpenDeadLetters(
  db: Queryable,
  tenantId: string,
): Promise<readonly { readonly node_type: string; readonly count: number }[]> {
  return await run(db, countOpen, { tenantId });
}

/** Those that a request has closed so far, oldest first. @throws STORE_UNAVAILABLE */
export async function deadLettersClosedBy(
  db: Queryable,
  tenantId: string,
  requestId: string,
): Promise<ClosedDeadLetter[]> {
  const rows = await run(db, ofRequest, { tenantId, requestId });
  return rows.map((row) => ({
    deadLetterId: row.dead_letter_id,
    redriveRunId: row.redrive_run_id,
  }));
}
