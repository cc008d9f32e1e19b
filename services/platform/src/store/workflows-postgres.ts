// Definitions in Postgres. Two writers of one workflow meet at its row lock; two creators of it, or two senders of one
// request, meet at a unique index: the loser's transaction runs again and then sees what the winner wrote.

import { definitionId } from "@pawl/core/name/ids";
import { isContention, isUniqueViolation } from "../db/failure.ts";
import { run, type Queryable } from "../db/sql.ts";
import { withTransaction, type Connectable } from "../db/transaction.ts";
import { definitionByRequest } from "./statements/definition-by-request.ts";
import { deleteWorkflow } from "./statements/delete-workflow.ts";
import { dropWorkflowPause } from "./statements/drop-workflow-pause.ts";
import { findDefinition } from "./statements/find-definition.ts";
import { workflowWords } from "./run-search.ts";
import { insertDefinition } from "./statements/insert-definition.ts";
import { insertWorkflow } from "./statements/insert-workflow.ts";
import { liveRunsOfWorkflow } from "./statements/live-runs-of-workflow.ts";
import { loadDefinition } from "./statements/load-definition.ts";
import { lockWorkflow } from "./statements/lock-workflow.ts";
import { pointWorkflow } from "./statements/point-workflow.ts";
import { raisePauseEpoch } from "./statements/raise-pause-epoch.ts";
import { readPause } from "./statements/read-pause.ts";
import type {
  DefinitionRow,
  NewDefinition,
  RemoveResult,
  SaveResult,
  Workflows,
} from "./workflows.ts";

interface Row {
  readonly definition_id: string;
  readonly workflow_id: string | null;
  readonly version: number;
  readonly digest: string;
  readonly title: string;
  readonly node_count: number;
  readonly body: string;
  readonly created_at: Date;
}

const toDefinition = (row: Row): DefinitionRow => ({
  definitionId: definitionId(row.definition_id),
  workflowId: row.workflow_id,
  version: row.version,
  digest: row.digest,
  title: row.title,
  nodeCount: row.node_count,
  body: row.body,
  createdAt: row.created_at.getTime(),
});

const saved = (row: Row): SaveResult => ({ kind: "saved", row: toDefinition(row) });
const mayRetry = (error: unknown): boolean => isContention(error) || isUniqueViolation(error);

/** Workflows over a pool that hands out connections. */
export function createWorkflows(db: Queryable & Connectable): Workflows {
  const save = (work: (tx: Queryable) => Promise<SaveResult>): Promise<SaveResult> =>
    withTransaction(db, work, { mayRetry });
  const first = async (text: Parameters<typeof run>[1], values: unknown[]) => {
    const [row] = await run<Row>(db, text, values);
    return row === undefined ? undefined : toDefinition(row);
  };
  return {
    create: (definition) => save((tx) => create(tx, definition)),
    update: (definition, expectedVersion) => save((tx) => update(tx, definition, expectedVersion)),
    remove: (tenantId, workflowId, force) =>
      withTransaction(db, (tx) => remove(tx, [tenantId, workflowId], force)),
    find: (tenantId, workflowId, version) => first(findDefinition, [tenantId, workflowId, version]),
    load: (id) => first(loadDefinition, [id]),
  };
}

async function create(tx: Queryable, definition: NewDefinition): Promise<SaveResult> {
  const { tenantId, workflowId } = definition;
  // In this order: one that finds the workflow of the first sender then finds its request too.
  const current = await lock(tx, [tenantId, workflowId]);
  const repeated = await findRepeat(tx, definition);
  if (repeated !== undefined) return repeated;
  if (current !== undefined) return { kind: "exists" };
  const row = await insert(tx, definition);
  await run(tx, insertWorkflow, [tenantId, workflowId, row.version, row.definition_id]);
  return saved(row);
}

async function update(
  tx: Queryable,
  definition: NewDefinition,
  expectedVersion: number,
): Promise<SaveResult> {
  const { tenantId, workflowId } = definition;
  // The lock comes first: a repeat that waits here for the first sender then finds what it wrote.
  const current = await lock(tx, [tenantId, workflowId]);
  const repeated = await findRepeat(tx, definition);
  if (repeated !== undefined) return repeated;
  if (current === undefined) return { kind: "missing" };
  if (expectedVersion !== 0 && expectedVersion !== current.version) {
    return { kind: "version_mismatch", currentVersion: current.version };
  }
  if (current.digest === definition.digest) return saved(current);
  const row = await insert(tx, definition);
  await run(tx, pointWorkflow, [tenantId, workflowId, row.version, row.definition_id]);
  return saved(row);
}

async function remove(tx: Queryable, key: WorkflowKey, force: boolean): Promise<RemoveResult> {
  if ((await lock(tx, key)) === undefined) return "missing";
  const liveRuns = (await run(tx, liveRunsOfWorkflow, [...key])).length;
  if (liveRuns > 0 && !force) return { liveRuns };
  await run(tx, deleteWorkflow, [...key]);
  if (liveRuns === 0) await letGo(tx, key);
  return "removed";
}

/** Ends a pause that holds nothing any more; one that still holds runs stays until it is resumed. */
async function letGo(tx: Queryable, [tenantId, workflowId]: WorkflowKey): Promise<void> {
  if ((await run(tx, readPause, ["workflow", tenantId, workflowId])).length === 0) return;
  await run(tx, raisePauseEpoch, []);
  await run(tx, dropWorkflowPause, [tenantId, workflowId]);
}

type WorkflowKey = readonly [tenantId: string, workflowId: string];

/** The current definition of a workflow, which nobody else changes before this transaction ends. */
async function lock(tx: Queryable, key: WorkflowKey): Promise<Row | undefined> {
  const [locked] = await run<{ readonly definition_id: string }>(tx, lockWorkflow, [...key]);
  if (locked === undefined) return undefined;
  const [current] = await run<Row>(tx, loadDefinition, [locked.definition_id]);
  return current;
}

async function findRepeat(
  tx: Queryable,
  { tenantId, requestId, requestHash }: NewDefinition,
): Promise<SaveResult | undefined> {
  if (requestId === null) return undefined;
  const [row] = await run<Row & { readonly request_hash: string | null }>(tx, definitionByRequest, [
    tenantId,
    requestId,
  ]);
  if (row === undefined) return undefined;
  return row.request_hash === requestHash ? saved(row) : { kind: "request_reused" };
}

async function insert(tx: Queryable, definition: NewDefinition): Promise<Row> {
  const [row] = await run<Row>(tx, insertDefinition, [
    definition.definitionId,
    definition.tenantId,
    definition.workflowId,
    definition.digest,
    definition.title,
    definition.nodeCount,
    definition.body,
    definition.requestId,
    definition.requestHash,
    workflowWords(definition.workflowId, definition.title),
  ]);
  if (row === undefined) throw new Error("invariant broken: an insert gave no row");
  return row;
}
