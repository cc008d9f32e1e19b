// Reads workflows and their immutable definitions.

import type { DefinitionId } from "@pawl/core/name/ids";
import { number, text, uuid } from "../../db/columns.ts";
import { first, queriesBeside, type Queryable, run } from "../../db/query.ts";
import { type PageRequest, readPage } from "../page.ts";
import {
  DEFINITION,
  type DefinitionRow,
  WORKFLOW,
  type WorkflowPage,
  type WorkflowRecord,
} from "./workflows.ts";

const declare = queriesBeside(import.meta.url);

const TENANT = { tenantId: text() };
const newestVersions = declare(
  "newest_versions",
  { ...TENANT, after: text(), limit: number() },
  WORKFLOW,
);
const byVersion = declare(
  "version",
  { ...TENANT, workflowId: text(), version: number() },
  WORKFLOW,
);
const byId = declare("definition", { definitionId: uuid<DefinitionId>() }, DEFINITION);

/** One version of a workflow. Version 0 is the newest. Undefined if there is none. @throws STORE_UNAVAILABLE */
export const getWorkflow = (
  db: Queryable,
  tenantId: string,
  workflowId: string,
  version: number,
): Promise<WorkflowRecord | undefined> => first(db, byVersion, { tenantId, workflowId, version });

/** The newest versions in order of id. @throws INPUT_INVALID for a token of another list, STORE_UNAVAILABLE */
export async function listWorkflows(
  db: Queryable,
  tenantId: string,
  asked: PageRequest,
): Promise<WorkflowPage> {
  return await readPage(asked, {
    filter: `workflows ${tenantId}`,
    keyOf: (row) => row.workflowId,
    read: (after, limit) => run(db, newestVersions, { tenantId, after, limit }),
  });
}

/** A definition by its own id. Undefined if its test run was deleted. @throws STORE_UNAVAILABLE */
export const getDefinition = (
  db: Queryable,
  definitionId: DefinitionId,
): Promise<DefinitionRow | undefined> => first(db, byId, { definitionId });
