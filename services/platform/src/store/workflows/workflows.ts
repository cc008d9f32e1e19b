// Workflows and their definitions. Every update is a new, immutable version. Only the scheduler writes them.

import type { DefinitionId } from "@pawl/core/name/ids";

export interface DefinitionRow {
  readonly definitionId: DefinitionId;
  readonly workflowId: string | null;
  readonly version: number;
  readonly digest: string;
  readonly title: string;
  readonly nodeCount: number;
  /** Canonical JSON text. */
  readonly body: string;
  readonly createdAt: number;
}

export interface NewDefinition {
  readonly definitionId: DefinitionId;
  readonly tenantId: string;
  readonly workflowId: string;
  readonly digest: string;
  readonly title: string;
  readonly nodeCount: number;
  readonly body: string;
  readonly requestId: string | null;
  readonly requestHash: string | null;
}

export type SaveResult =
  | { readonly kind: "saved"; readonly row: DefinitionRow }
  | { readonly kind: "exists" }
  | { readonly kind: "missing" }
  | { readonly kind: "version_mismatch"; readonly currentVersion: number }
  | { readonly kind: "request_reused" };

/** `liveRuns`: refused, since so many runs of the workflow have not ended (counted up to a bound). */
export type RemoveResult = "removed" | "missing" | { readonly liveRuns: number };

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

export interface Workflows {
  /** Saves version 1, or says that the id is taken. A repeated request gives the first answer again. */
  create(definition: NewDefinition): Promise<SaveResult>;
  /** Saves the next version; an unchanged digest keeps the current one. `expectedVersion` 0 skips the check. */
  update(definition: NewDefinition, expectedVersion: number): Promise<SaveResult>;
  /** Removes the workflow, and its pause unless that still holds runs; its versions stay for the runs that use them. */
  remove(tenantId: string, workflowId: string, force: boolean): Promise<RemoveResult>;
  /** One version, 0 for the newest. */
  find(tenantId: string, workflowId: string, version: number): Promise<DefinitionRow | undefined>;
  /** A definition by its own id. */
  load(definitionId: DefinitionId): Promise<DefinitionRow | undefined>;
}
