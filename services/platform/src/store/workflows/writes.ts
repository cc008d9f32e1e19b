// Writes workflows. Races. Two writers of one workflow take turns at its row lock. Two users create one workflow, or send one request
// twice: a unique index refuses one transaction. It runs again and then sees the rows of the other.

import type { DefinitionId } from "@pawl/core/name/ids";
import { list, number, orNull, text, uuid } from "../../db/columns.ts";
import { isOvertaken } from "../../db/failure.ts";
import type { Pool } from "../../db/pool.ts";
import { first, queriesBeside, type Queryable, run, type Typed } from "../../db/query.ts";
import { dropPauseOfWorkflow } from "../pauses/writes.ts";
import { workflowWords } from "../runs/search.ts";
import { getDefinition, getWorkflow } from "./reads.ts";
import {
  DEFINITION,
  type DefinitionRow,
  NEW_DEFINITION,
  type NewDefinition,
  type RemoveResult,
  type SaveResult,
  type Workflows,
} from "./workflows.ts";

const declare = queriesBeside(import.meta.url);

const KEY = { tenantId: text(), workflowId: text() };
const POINTER = { ...KEY, version: number(), definitionId: uuid<DefinitionId>() };
const lock = declare("lock", KEY, { definitionId: uuid<DefinitionId>() });
const ofRequest = declare(
  "definition_of_request",
  { tenantId: text(), requestId: text() },
  { ...DEFINITION, requestHash: orNull(text()) },
);
const insertDefinition = declare(
  "insert_definition",
  { ...NEW_DEFINITION, words: list(text()) },
  DEFINITION,
);
const insertWorkflow = declare("insert", POINTER);
const point = declare("point", POINTER);
const deleteWorkflow = declare("delete", KEY);
const liveRuns = declare("live_runs", KEY, { runId: uuid() });

type WorkflowKey = Typed<typeof KEY>;

const saved = (row: DefinitionRow): SaveResult => ({ kind: "saved", row });

/** Workflows over a pool. */
export function createWorkflows(db: Pool): Workflows {
  return {
    create: (definition) => db.transaction((tx) => create(tx, definition), isOvertaken),
    update: (definition, expectedVersion) =>
      db.transaction((tx) => update(tx, definition, expectedVersion), isOvertaken),
    remove: (tenantId, workflowId, force) =>
      db.transaction((tx) => remove(tx, { tenantId, workflowId }, force)),
    find: async (tenantId, workflowId, wanted) => {
      const found = await getWorkflow(db, tenantId, workflowId, wanted);
      if (found === undefined || found.body === null) return undefined;
      const { updatedAt, ...record } = found;
      return { ...record, body: found.body, createdAt: updatedAt };
    },
    load: (id) => getDefinition(db, id),
  };
}

async function create(tx: Queryable, definition: NewDefinition): Promise<SaveResult> {
  // Lock first: a client that finds the workflow of another client then finds its request too.
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
  // Lock first: a repeat that waits here for the first request then finds its definition.
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

/** The current definition of a workflow. No other transaction changes it before this one ends. */
async function lockCurrent(
  tx: Queryable,
  { tenantId, workflowId }: WorkflowKey,
): Promise<DefinitionRow | undefined> {
  const locked = await first(tx, lock, { tenantId, workflowId });
  return locked && (await getDefinition(tx, locked.definitionId));
}

async function findRepeat(
  tx: Queryable,
  { tenantId, requestId, requestHash }: NewDefinition,
): Promise<SaveResult | undefined> {
  if (requestId === null) return undefined;
  const found = await first(tx, ofRequest, { tenantId, requestId });
  if (found === undefined) return undefined;
  const { requestHash: firstHash, ...row } = found;
  return firstHash === requestHash ? saved(row) : { kind: "request_reused" };
}

/** Writes the next version, and makes it the current one with the query `name`. */
async function insert(
  tx: Queryable,
  definition: NewDefinition,
  name: typeof point,
): Promise<SaveResult> {
  const { tenantId, workflowId, definitionId } = definition;
  const words = workflowWords(workflowId, definition.title);
  const row = await first(tx, insertDefinition, { ...definition, words });
  if (row === undefined) throw new Error("invariant broken: an insert gave no row");
  await run(tx, name, { tenantId, workflowId, version: row.version, definitionId });
  return saved(row);
}
