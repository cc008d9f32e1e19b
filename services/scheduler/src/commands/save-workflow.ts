// Saves and removes workflows. Every save is checked whole before anything is written.

import { definitionError } from "@pawl/core/definition/error";
import { isReservedName } from "@pawl/core/data/path";
import { parseDefinition } from "@pawl/core/definition/parse";
import type { Violation } from "@pawl/core/definition/shape";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { unreachable } from "@pawl/core/fault/invariant";
import { definitionId } from "@pawl/core/name/ids";
import type {
  DefinitionRow,
  NewDefinition,
  SaveResult,
} from "@pawl/platform/store/workflows/workflows";
import { requestIdOf } from "@pawl/platform/wire/request-id";
import type {
  CreateWorkflowRequest,
  DeleteWorkflowRequest,
  UpdateWorkflowRequest,
} from "@pawl/proto/pawl/v1/workflow_service_pb";
import { sha256 } from "./digest.ts";
import type { AdmitParts } from "./parts.ts";
import { workflowIdOf } from "./request.ts";
import { defaultViolations } from "./response-schema.ts";
import { nodeTypesOf, workflowNotFound } from "./start-run.ts";
import { uuidV7 } from "../run-id.ts";

/** What a request of this kind is digested with. */
const CREATE = "create";

export interface SavedWorkflow {
  readonly row: DefinitionRow;
  readonly warnings: readonly Violation[];
}

/** `served` are the types that executors serve now. @throws DEFINITION_INVALID, CYCLE_DETECTED, LIMIT_EXCEEDED, WORKFLOW_EXISTS, REQUEST_ID_REUSED */
export async function createWorkflow(
  parts: AdmitParts,
  tenantId: string,
  request: CreateWorkflowRequest,
  served?: ReadonlySet<string>,
): Promise<SavedWorkflow> {
  const { definition, warnings } = await prepare(parts, { tenantId, served }, request, CREATE);
  const row = saved(await parts.workflows.create(definition), definition);
  return { row, warnings };
}

/** @throws as createWorkflow, and WORKFLOW_NOT_FOUND, VERSION_MISMATCH */
export async function updateWorkflow(
  parts: AdmitParts,
  tenantId: string,
  request: UpdateWorkflowRequest,
  served?: ReadonlySet<string>,
): Promise<SavedWorkflow> {
  workflowIdOf(request.workflowId);
  const kind = `update ${request.expectedVersion}`;
  const { definition, warnings } = await prepare(parts, { tenantId, served }, request, kind);
  const result = await parts.workflows.update(definition, request.expectedVersion);
  parts.newest.forget(tenantId, definition.workflowId);
  return { row: saved(result, definition), warnings };
}

/** @throws WORKFLOW_NOT_FOUND, HAS_LIVE_RUNS */
export async function deleteWorkflow(
  parts: AdmitParts,
  tenantId: string,
  request: DeleteWorkflowRequest,
): Promise<void> {
  const workflowId = workflowIdOf(request.workflowId);
  requestIdOf(request.requestId);
  const result = await parts.workflows.remove(tenantId, workflowId, request.force);
  parts.newest.forget(tenantId, workflowId);
  if (result === "missing") throw workflowNotFound(workflowId, 0);
  if (typeof result === "object")
    throw new EngineError(
      "HAS_LIVE_RUNS",
      `Workflow ${workflowId} has ${result.liveRuns} live run${result.liveRuns === 1 ? "" : "s"}; cancel them or wait for their end, or delete it with force: they then go on to their end.`,
      { metadata: { workflow_id: workflowId, live_runs: String(result.liveRuns) } },
    );
}

async function prepare(
  parts: AdmitParts,
  {
    tenantId,
    served,
  }: { readonly tenantId: string; readonly served: ReadonlySet<string> | undefined },
  request: CreateWorkflowRequest | UpdateWorkflowRequest,
  kind: string,
): Promise<{ readonly definition: NewDefinition; readonly warnings: readonly Violation[] }> {
  const requestId = requestIdOf(request.requestId);
  const parsed = parseDefinition(request.definition?.text ?? "", { served });
  if (!parsed.ok) throw definitionError(parsed.violations);
  const { warnings } = parsed;
  if (request.strict && warnings.length > 0) throw definitionError(warnings);
  const misfits = defaultViolations(parsed.graph);
  if (misfits.length > 0) throw definitionError(misfits);
  const named = request.workflowId === "" ? (parsed.definition.id ?? "") : request.workflowId;
  if (named === "")
    throw invalidField("workflow_id", "MISSING", "name the workflow here or by `id` in its text");
  const workflowId = workflowIdOf(named);
  // One that has the name already keeps it.
  if (kind === CREATE && isReservedName(workflowId))
    throw invalidField(
      "workflow_id",
      "RESERVED_KEY",
      "every JavaScript object has one of its own; choose another name",
    );
  await parts.ensureQueues(nodeTypesOf(parsed.graph));
  const digest = sha256(parsed.canonicalJson);
  const definition = {
    definitionId: definitionId(uuidV7(parts.now())),
    tenantId,
    workflowId,
    digest,
    title: parsed.definition.title,
    nodeCount: parsed.graph.nodes.length,
    body: parsed.canonicalJson,
    requestId,
    requestHash: requestId === null ? null : sha256(kind, workflowId, digest),
  };
  return { definition, warnings };
}

function saved(
  result: SaveResult,
  { workflowId, requestId }: Pick<NewDefinition, "workflowId" | "requestId">,
): DefinitionRow {
  const metadata = { workflow_id: workflowId };
  switch (result.kind) {
    case "saved":
      return result.row;
    case "exists":
      throw new EngineError(
        "WORKFLOW_EXISTS",
        `There is a workflow ${workflowId} already; update it instead.`,
        { metadata },
      );
    case "missing":
      throw workflowNotFound(workflowId, 0);
    case "version_mismatch":
      throw new EngineError(
        "VERSION_MISMATCH",
        `Workflow ${workflowId} is at version ${result.currentVersion} by now; read it and edit again.`,
        { metadata: { ...metadata, current_version: String(result.currentVersion) } },
      );
    case "request_reused":
      throw new EngineError(
        "REQUEST_ID_REUSED",
        "This request id was used before with another body; use a new one.",
        { metadata: { ...metadata, request_id: requestId ?? "" } },
      );
    default:
      return unreachable(result, "save result");
  }
}
