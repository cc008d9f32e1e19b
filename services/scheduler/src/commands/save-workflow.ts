// Saves and removes workflows. The scheduler checks a definition whole before it writes anything.

import { isReservedName } from "@pawl/core/data/path";
import type { KnownTypes } from "@pawl/core/definition/known-types";
import type { Violation } from "@pawl/core/definition/shape";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import type {
  DefinitionRow,
  NewDefinition,
  SaveResult,
} from "@pawl/platform/store/workflows/workflows";
import { nameOf } from "@pawl/platform/wire/fields";
import type { SaveRequest } from "@pawl/platform/wire/requests";
import { notSaved, workflowNotFound } from "../inputs/errors.ts";
import { nodeTypesOf, readDefinition } from "./definition.ts";
import { sha256 } from "./digest.ts";
import type { AdmitParts } from "./parts.ts";

/** The digest of a request contains this word. */
const CREATE = "create";

export interface SavedWorkflow {
  readonly row: DefinitionRow;
  readonly warnings: readonly Violation[];
}

/**
 * `types` are the node types that executors serve and publish. @throws DEFINITION_INVALID, CYCLE_DETECTED, LIMIT_EXCEEDED, WORKFLOW_EXISTS,
 * REQUEST_ID_REUSED
 */
export async function createWorkflow(
  parts: AdmitParts,
  tenantId: string,
  request: SaveRequest,
  types?: KnownTypes,
): Promise<SavedWorkflow> {
  const { definition, warnings } = await prepare(parts, { tenantId, types }, request, CREATE);
  return { row: saved(await parts.workflows.create(definition), definition), warnings };
}

/** @throws as createWorkflow, and WORKFLOW_NOT_FOUND, VERSION_MISMATCH */
export async function updateWorkflow(
  parts: AdmitParts,
  tenantId: string,
  request: SaveRequest & { readonly expectedVersion: number },
  types?: KnownTypes,
): Promise<SavedWorkflow> {
  const { expectedVersion } = request;
  const kind = `update ${expectedVersion}`;
  const { definition, warnings } = await prepare(parts, { tenantId, types }, request, kind);
  const result = await parts.workflows.update(definition, expectedVersion);
  parts.newest.forget(tenantId, definition.workflowId);
  return { row: saved(result, definition), warnings };
}

/** @throws WORKFLOW_NOT_FOUND, HAS_LIVE_RUNS */
export async function deleteWorkflow(
  parts: AdmitParts,
  tenantId: string,
  { workflowId, force }: { readonly workflowId: string; readonly force: boolean },
): Promise<void> {
  const result = await parts.workflows.remove(tenantId, workflowId, force);
  parts.newest.forget(tenantId, workflowId);
  if (result === "missing") throw workflowNotFound(workflowId);
  if (typeof result === "object")
    throw new EngineError(
      "HAS_LIVE_RUNS",
      `Workflow ${workflowId} has ${result.liveRuns} live run${result.liveRuns === 1 ? "" : "s"}; cancel them or wait for their end, or delete it with force. Its live runs then continue to their end.`,
      { metadata: { workflow_id: workflowId, live_runs: String(result.liveRuns) } },
    );
}

async function prepare(
  { now, ensureQueues, egress, priceOf }: AdmitParts,
  to: { readonly tenantId: string; readonly types: KnownTypes | undefined },
  { workflowId: asked, text, isStrict, requestId }: SaveRequest,
  kind: string,
): Promise<{ readonly definition: NewDefinition; readonly warnings: readonly Violation[] }> {
  const { graph, row, warnings } = readDefinition(text, {
    ...{ ...to, now: now(), egress, priceOf, isStrict },
  });
  const named = asked === "" ? (graph.definition.id ?? "") : asked;
  if (named === "")
    throw invalidField("workflow_id", "MISSING", "name the workflow here or by `id` in its text");
  const workflowId = nameOf("workflow_id", named);
  // A saved workflow with a reserved name keeps its name.
  if (kind === CREATE && isReservedName(workflowId))
    throw invalidField(
      "workflow_id",
      "RESERVED_KEY",
      "every JavaScript object has one of its own; choose another name",
    );
  await ensureQueues(nodeTypesOf(graph));
  const requestHash = requestId === null ? null : sha256(kind, workflowId, row.digest);
  return { definition: { ...row, workflowId, requestId, requestHash }, warnings };
}

function saved(
  result: SaveResult,
  { workflowId, requestId }: Pick<NewDefinition, "workflowId" | "requestId">,
): DefinitionRow {
  if (result.kind === "saved") return result.row;
  throw notSaved("workflow", workflowId, requestId, result);
}
