// Creates, edits and deletes assistants. `store/assistants` names the race of a deletion with starts.

import { canonicalJson } from "@pawl/core/definition/canonical";
import { EngineError } from "@pawl/core/fault/engine-error";
import type {
  AssistantRecord,
  Assistants,
  AssistantSpec,
} from "@pawl/platform/store/assistants/assistants";
import {
  assistantNotFound,
  type parseCreateAssistant,
  type parseDeleteAssistant,
  type parseUpdateAssistant,
} from "@pawl/platform/wire/assistant";
import { workflowNotFound } from "../inputs/errors.ts";
import { uuidV7 } from "../run-id.ts";
import { deleteWithRuns } from "./delete-with-runs.ts";
import type { AdmitParts } from "./parts.ts";

export interface AssistantCommandParts extends Omit<AdmitParts, "assistants"> {
  readonly assistants: Assistants;
}

/** @throws WORKFLOW_NOT_FOUND, ASSISTANT_EXISTS */
export async function createAssistant(
  parts: AssistantCommandParts,
  tenantId: string,
  { assistantId, spec }: ReturnType<typeof parseCreateAssistant>,
): Promise<AssistantRecord> {
  await checkWorkflow(parts, tenantId, spec);
  const id = assistantId === "" ? uuidV7(parts.now()) : assistantId;
  const made = await parts.assistants.create({ tenantId, assistantId: id }, spec);
  if (made !== undefined && (made.isNew || isSame(made.assistant, spec))) return made.assistant;
  const why = made === undefined ? "is being deleted" : "exists already";
  throw new EngineError("ASSISTANT_EXISTS", `Assistant ${id} ${why}.`, {
    metadata: { assistant_id: id },
  });
}

/** How often an edit without an expected version is tried again behind other edits. */
const EDITS_MAX = 20;

/** Replaces the spec. The spec that the assistant has makes no version. @throws WORKFLOW_NOT_FOUND, ASSISTANT_NOT_FOUND, VERSION_MISMATCH, OVERLOADED */
export async function updateAssistant(
  parts: AssistantCommandParts,
  tenantId: string,
  { assistantId, spec, expectedVersion }: ReturnType<typeof parseUpdateAssistant>,
): Promise<AssistantRecord> {
  const key = { tenantId, assistantId };
  await checkWorkflow(parts, tenantId, spec);
  for (let round = 1; ; round++) {
    const found = await parts.assistants.find(key);
    if (found === undefined) throw assistantNotFound(assistantId);
    if (isSame(found, spec)) return found;
    const isExpected = expectedVersion === 0 || expectedVersion === found.version;
    if (!isExpected) throw versionMismatch(found);
    if (round === EDITS_MAX) throw overtaken(assistantId);
    const updated = await parts.assistants.update(key, spec, found.version);
    if (updated !== undefined) return updated;
  }
}

/** Deletes an assistant with its runs. `force` cancels those that have not ended. @throws ASSISTANT_NOT_FOUND, ASSISTANT_BUSY */
export async function deleteAssistant(
  { assistants, loop }: Pick<AssistantCommandParts, "assistants" | "loop">,
  tenantId: string,
  { assistantId, force }: ReturnType<typeof parseDeleteAssistant>,
): Promise<void> {
  await deleteWithRuns(assistants, loop, {
    ...{ key: { tenantId, assistantId }, force, reason: "its assistant is deleted" },
    missing: () => assistantNotFound(assistantId),
    busy: (runId) => assistantBusy(assistantId, runId),
  });
}

/** An assistant names a workflow that exists. @throws WORKFLOW_NOT_FOUND */
async function checkWorkflow(
  { workflows }: AssistantCommandParts,
  tenantId: string,
  { workflowId, workflowVersion }: AssistantSpec,
): Promise<void> {
  const row = await workflows.find(tenantId, workflowId, workflowVersion);
  if (row === undefined) throw workflowNotFound(workflowId, workflowVersion);
}

const textOf = (spec: AssistantSpec): string => {
  const { workflowId, workflowVersion, config, metadata, defaults } = spec;
  const written = { workflowId, workflowVersion, defaults };
  const values = {
    config: JSON.parse(config) as unknown,
    metadata: JSON.parse(metadata) as unknown,
  };
  return canonicalJson({ ...written, ...values });
};

const isSame = (a: AssistantSpec, b: AssistantSpec): boolean => textOf(a) === textOf(b);

const versionMismatch = ({ assistantId, version }: AssistantRecord): EngineError =>
  new EngineError(
    "VERSION_MISMATCH",
    `Assistant ${assistantId} is at version ${version}; another edit came first.`,
    { metadata: { assistant_id: assistantId, current_version: String(version) } },
  );

const overtaken = (assistantId: string): EngineError =>
  new EngineError("OVERLOADED", `Other edits of assistant ${assistantId} come first; try again.`, {
    metadata: { assistant_id: assistantId },
    retryAfterMs: 1_000,
  });

const assistantBusy = (assistantId: string, runId: string): EngineError =>
  new EngineError(
    "ASSISTANT_BUSY",
    `Assistant ${assistantId} has runs that have not ended, such as ${runId}.`,
    { metadata: { assistant_id: assistantId, run_id: runId } },
  );
