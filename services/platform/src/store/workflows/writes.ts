// Writes workflows. Two writers of one workflow meet at its row lock. Two creators of it, or two senders of one request, meet at a
// unique index: the transaction of the loser runs again and then sees what the winner wrote.

import type { DefinitionId } from "@pawl/core/name/ids";
import { list, number, orNull, text, uuid } from "../../db/columns.ts";
import { isContention, isUniqueViolation } from "../../db/failure.ts";
import { queriesBeside, run, type Typed } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import { type Connectable, withTransaction } from "../../db/transaction.ts";
import { dropPauseOfWorkflow } from "../pauses/writes.ts";
import { workflowWords } from "../runs/search.ts";
import { DEFINITION, getWorkflow, readDefinition } from "./reads.ts";
import type {
  DefinitionRow,
  NewDefinition,
  RemoveResult,
  SaveResult,
  Workflows,
} from "./workflows.ts";

const declare = queriesBeside(import.meta.url);

const KEY = { tenantId: text(), workflowId: text() };
const POINTER = { ...KEY, version: number(), definitionId: uuid<DefinitionId>() };
const lock = declare("lock", KEY, { definition_id: uuid<DefinitionId>() });
const ofRequest = declare(
  "definition_of_request",
  { tenantId: text(), requestId: text() },
  { ...DEFINITION, request_hash: orNull(text()) },
);
const insertDefinition = declare(
  "insert_definition",
  {
    ...KEY,
    definitionId: uuid<DefinitionId>(),
    digest: text(),
    title: text(),
    nodeCount: number(),
    body: text(),
    requestId: orNull(text()),
    requestHash: orNull(text()),
    words: list(text()),
  },
  DEFINITION,
);
const insertWorkflow = declare("insert", POINTER);
const point = declare("point", POINTER);
const deleteWorkflow = declare("delete", KEY);
const liveRuns = declare("live_runs", KEY, { run_id: uuid() });

type Row = Typed<typeof DEFINITION>;
type WorkflowKey = Typed<typeof KEY>;

const toDefinition = (row: Row): DefinitionRow => ({
  definitionId: row.definition_id,
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
  return {
    create: (definition) => save((tx) => create(tx, definition)),
    update: (definition, expectedVersion) => save((tx) => update(tx, definition, expectedVersion)),
    remove: (tenantId, workflowId, force) =>
      withTransaction(db, (tx) => remove(tx, { tenantId, workflowId }, force)),
    find: async (tenantId, workflowId, wanted) => {
      const found = await getWorkflow(db, tenantId, workflowId, wanted);
      if (found?.body === undefined) return undefined;
      const { updatedAt, ...record } = found;
      return { ...record, body: found.body, createdAt: updatedAt };
    },
    load: async (id) => {
      const row = await readDefinition(db, id);
      return row && toDefinition(row);
    },
  };
}

async function create(tx: Queryable, definition: NewDefinition): Promise<SaveResult> {
  // The lock comes first: a sender that finds the workflow of another sender then finds its request too.
  const current = await lockCurrent(tx, definition);
  const repeated = await findRepeat(tx, definition);
  if (repeated !== undefined) return repeated;
  if (current !== undefined) return { kind: "exists" };
  return await insert(tx, definition, insertWorkflow);
}

async function update(
  tx: Queryable,
  definition: NewDefinition,
  expectedVersion: number,
): Promise<SaveResult> {
  // The lock comes first: a repeat that waits here for the first sender then finds what that one wrote.
  const current = await lockCurrent(tx, definition);
  const repeated = await findRepeat(tx, definition);
  if (repeated !== undefined) return repeated;
  if (current === undefined) return { kind: "missing" };
  if (expectedVersion !== 0 && expectedVersion !== current.version) {
    return { kind: "version_mismatch", currentVersion: current.version };
  }
  if (current.digest === definition.digest) return saved(current);
  return await insert(tx, definition, point);
}

async function remove(tx: Queryable, key: WorkflowKey, force: boolean): Promise<RemoveResult> {
  if ((await lockCurrent(tx, key)) === undefined) return "missing";
  const liveCount = (await run(tx, liveRuns, key)).length;
  if (liveCount > 0 && !force) return { liveRuns: liveCount };
  await run(tx, deleteWorkflow, key);
  // A pause that still holds runs stays until a user resumes it.
  if (liveCount === 0) await dropPauseOfWorkflow(tx, key);
  return "removed";
}

/** The current definition of a workflow, which no other transaction changes before this one ends. */
async function lockCurrent(
  tx: Queryable,
  { tenantId, workflowId }: WorkflowKey,
): Promise<Row | undefined> {
  const [locked] = await run(tx, lock, { tenantId, workflowId });
  return locked && (await readDefinition(tx, locked.definition_id));
}

async function findRepeat(
  tx: Queryable,
  { tenantId, requestId, requestHash }: NewDefinition,
): Promise<SaveResult | undefined> {
  if (requestId === null) return undefined;
  const [row] = await run(tx, ofRequest, { tenantId, requestId });
  if (row === undefined) return undefined;
  return row.request_hash === requestHash ? saved(row) : { kind: "request_reused" };
}

/** Writes the next version, and names it as the current one by `name`. */
async function insert(
  tx: Queryable,
  definition: NewDefinition,
  name: typeof point,
): Promise<SaveResult> {
  const { tenantId, workflowId, definitionId } = definition;
  const words = workflowWords(workflowId, definition.title);
  const [row] = await run(tx, insertDefinition, { ...definition, words });
  if (row === undefined) throw new Error("invariant broken: an insert gave no row");
  await run(tx, name, { tenantId, workflowId, version: row.version, definitionId });
  return saved(row);
}
