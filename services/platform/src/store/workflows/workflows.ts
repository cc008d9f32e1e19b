// Workflows and their definitions. Every update is a new, immutable version. Only the scheduler writes them.

import type { DefinitionId } from "@pawl/core/name/ids";
import { number, orNull, text, time, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";
import type { Page } from "../page.ts";

const CONTENT = {
  definitionId: uuid<DefinitionId>(),
  digest: text(),
  title: text(),
  nodeCount: number(),
};
/** The columns of a definition. */
export const DEFINITION = {
  ...CONTENT,
  workflowId: orNull(text()),
  version: number(),
  /** Canonical JSON text. */
  body: text(),
  createdAt: time(),
};
export const NEW_DEFINITION = {
  ...CONTENT,
  tenantId: text(),
  workflowId: text(),
  body: text(),
  requestId: orNull(text()),
  requestHash: orNull(text()),
};
/** The columns of a workflow at one version. */
export const WORKFLOW = {
  ...CONTENT,
  workflowId: text(),
  version: number(),
  /** Canonical JSON text; null in lists. */
  body: orNull(text()),
  /** When the workflow was created. */
  createdAt: time(),
  /** When this version was created. */
  updatedAt: time(),
};

export type DefinitionRow = Typed<typeof DEFINITION>;
export type NewDefinition = Typed<typeof NEW_DEFINITION>;
export type WorkflowRecord = Typed<typeof WORKFLOW>;
export type WorkflowPage = Page<WorkflowRecord>;
/** The stored form of a definition. */
export type StoredDefinition = Pick<DefinitionRow, "definitionId" | "digest" | "body">;

export type SaveResult =
  | { readonly kind: "saved"; readonly row: DefinitionRow }
  | { readonly kind: "exists" }
  | { readonly kind: "missing" }
  | { readonly kind: "version_mismatch"; readonly currentVersion: number }
  | { readonly kind: "request_reused" };

/** `liveRuns`: the store refused, because this many runs of the workflow have not ended (counted up to a bound). */
export type RemoveResult = "removed" | "missing" | { readonly liveRuns: number };

export interface Workflows {
  /** Saves version 1, unless the id is used. A repeated request gets the first answer again. */
  create(definition: NewDefinition): Promise<SaveResult>;
  /** Saves the next version. An unchanged digest keeps the current one. `expectedVersion` 0 skips the check. */
  update(definition: NewDefinition, expectedVersion: number): Promise<SaveResult>;
  /** Removes the workflow. Its pause is removed unless it still holds runs. Its versions stay for the runs that use them. */
  remove(tenantId: string, workflowId: string, force: boolean): Promise<RemoveResult>;
  /** One version. 0 is the newest. */
  find(tenantId: string, workflowId: string, version: number): Promise<DefinitionRow | undefined>;
  /** A definition by its own id. */
  load(definitionId: DefinitionId): Promise<DefinitionRow | undefined>;
}
