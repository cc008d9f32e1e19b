// The read side of workflows and their immutable definitions.

import type { DefinitionId } from "@pawl/core/name/ids";
import { type Queryable, run } from "../db/sql.ts";
import { fromPageToken, toPageToken } from "./page-token.ts";
import { readDefinition } from "./statements/read-definition.ts";
import { readWorkflowPage } from "./statements/read-workflow-page.ts";
import { readWorkflow } from "./statements/read-workflow.ts";

/** A workflow at one version. Times are milliseconds since the epoch. */
export interface WorkflowRecord {
  readonly workflowId: string;
  readonly version: number;
  readonly definitionId: DefinitionId;
  readonly digest: string;
  readonly title: string;
  readonly nodeCount: number;
  /** Canonical JSON text; undefined in lists. */
  readonly body: string | undefined;
  /** When the workflow was created. */
  readonly createdAt: number;
  /** When this version was created. */
  readonly updatedAt: number;
}

export interface WorkflowPage {
  readonly workflows: readonly WorkflowRecord[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** A definition as it is stored. */
export interface StoredDefinition {
  readonly definitionId: DefinitionId;
  readonly digest: string;
  /** Canonical JSON text. */
  readonly body: string;
}

interface WorkflowRow {
  readonly workflow_id: string;
  readonly version: number;
  readonly definition_id: DefinitionId;
  readonly digest: string;
  readonly title: string;
  readonly node_count: number;
  readonly body: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const toWorkflow = (row: WorkflowRow): WorkflowRecord => ({
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
  version: number,
): Promise<WorkflowRecord | undefined> {
  const [row] = await run<WorkflowRow>(db, readWorkflow, [tenantId, workflowId, version]);
  return row === undefined ? undefined : toWorkflow(row);
}

/** The newest versions in order of id. @throws INPUT_INVALID for a token of another list, STORE_UNAVAILABLE */
export async function listWorkflows(
  db: Queryable,
  tenantId: string,
  page: { readonly size: number; readonly token: string },
): Promise<WorkflowPage> {
  const bound = `workflows ${tenantId}`;
  const after = page.token === "" ? "" : fromPageToken(page.token, bound);
  const rows = await run<WorkflowRow>(db, readWorkflowPage, [tenantId, after, page.size + 1]);
  const workflows = rows.slice(0, page.size).map(toWorkflow);
  const last = workflows.at(-1);
  const hasMore = rows.length > page.size && last !== undefined;
  return { workflows, nextPageToken: hasMore ? toPageToken(last.workflowId, bound) : "" };
}

/** A definition by its own id; undefined when its test run was deleted. @throws STORE_UNAVAILABLE */
export async function getDefinition(
  db: Queryable,
  definitionId: DefinitionId,
): Promise<StoredDefinition | undefined> {
  const [row] = await run<{ digest: string; body: string }>(db, readDefinition, [definitionId]);
  return row === undefined ? undefined : { definitionId, digest: row.digest, body: row.body };
}
