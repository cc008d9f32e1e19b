// Reads workflows and their immutable definitions.

import type { DefinitionId } from "@pawl/core/name/ids";
import { number, orNull, text, time, uuid } from "../../db/columns.ts";
import { queriesBeside, run, type RowOf } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import { pageInOrder, type PageRequest } from "../page.ts";
import type { StoredDefinition, WorkflowPage, WorkflowRecord } from "./workflows.ts";

const declare = queriesBeside(import.meta.url);

const VERSION = {
  workflow_id: text(),
  version: number(),
  definition_id: uuid<DefinitionId>(),
  digest: text(),
  title: text(),
  node_count: number(),
  body: orNull(text()),
  created_at: time(),
  updated_at: time(),
};
const newestVersions = declare(
  "newest_versions",
  { tenantId: text(), after: text(), limit: number() },
  VERSION,
);
const version = declare(
  "version",
  { tenantId: text(), workflowId: text(), version: number() },
  VERSION,
);

/** The columns of a definition. */
export const DEFINITION = {
  definition_id: uuid<DefinitionId>(),
  workflow_id: orNull(text()),
  version: number(),
  digest: text(),
  title: text(),
  node_count: number(),
  body: text(),
  created_at: time(),
};
const definition = declare("definition", { definitionId: uuid<DefinitionId>() }, DEFINITION);

const toWorkflow = (row: RowOf<typeof version>): WorkflowRecord => ({
  workflowId: row.workflow_id,
  version: row.version,
  definitionId: row.definition_id,
  digest: row.digest,
  title: row.title,
  nodeCount: row.node_count,
  body: row.body ?? undefined,
  createdAt: row.created_at.getTime(),
  updatedAt: row.updated_at.getTime(),
});

/** One version of a workflow, 0 for the newest; undefined when there is none. @throws STORE_UNAVAILABLE */
export async function getWorkflow(
  db: Queryable,
  tenantId: string,
  workflowId: string,
  wanted: number,
): Promise<WorkflowRecord | undefined> {
  const [row] = await run(db, version, { tenantId, workflowId, version: wanted });
  return row === undefined ? undefined : toWorkflow(row);
}

/** The newest versions in order of id. @throws INPUT_INVALID for a token of another list, STORE_UNAVAILABLE */
export async function listWorkflows(
  db: Queryable,
  tenantId: string,
  asked: PageRequest,
): Promise<WorkflowPage> {
  const { rows, nextPageToken } = await pageInOrder<RowOf<typeof newestVersions>>(asked, {
    filter: `workflows ${tenantId}`,
    keyOf: (row) => row.workflow_id,
    read: (after, limit) => run(db, newestVersions, { tenantId, after, limit }),
  });
  return { workflows: rows.map(toWorkflow), nextPageToken };
}

/** The row of a definition by its own id. @throws STORE_UNAVAILABLE */
export async function readDefinition(
  db: Queryable,
  definitionId: DefinitionId,
): Promise<RowOf<typeof definition> | undefined> {
  const [row] = await run(db, definition, { definitionId });
  return row;
}

/** A definition by its own id; undefined when its test run was deleted. @throws STORE_UNAVAILABLE */
export async function getDefinition(
  db: Queryable,
  definitionId: DefinitionId,
): Promise<StoredDefinition | undefined> {
  const row = await readDefinition(db, definitionId);
  return row === undefined ? undefined : { definitionId, digest: row.digest, body: row.body };
}
