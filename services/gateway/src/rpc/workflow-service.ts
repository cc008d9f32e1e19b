// WorkflowService at the gateway: reads from the store, validation here, changes checked and forwarded.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { parseDefinition } from "@pawl/core/definition/parse";
import { EngineError } from "@pawl/core/fault/engine-error";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { readKnownTypes } from "@pawl/platform/store/node-types/reads";
import { getWorkflow, listWorkflows } from "@pawl/platform/store/workflows/reads";
import { definitionTextOf, nameOf } from "@pawl/platform/wire/fields";
import {
  parseCreateWorkflow,
  parseDeleteWorkflow,
  parsePauseWorkflow,
  parseUpdateWorkflow,
} from "@pawl/platform/wire/requests";
import { toJsonBytes } from "@pawl/platform/wire/scalar";
import { toWireViolation, toWireWorkflow } from "@pawl/platform/wire/workflow";
import {
  GetWorkflowResponseSchema,
  ListWorkflowsResponseSchema,
  ValidateWorkflowResponseSchema,
  type WorkflowService,
} from "@pawl/proto/pawl/v1/workflow_service_pb";
import { forwarded } from "../request/forward.ts";
import type { ServiceParts } from "./service-parts.ts";

export const createWorkflowService = ({
  pool,
  pages,
  scheduler: { workflows },
}: ServiceParts): ServiceImpl<typeof WorkflowService> => ({
  createWorkflow: forwarded(workflows.createWorkflow, parseCreateWorkflow),
  getWorkflow: async ({ workflowId, version }) => {
    nameOf("workflow_id", workflowId);
    const found = await getWorkflow(pool, DEFAULT_TENANT, workflowId, version);
    if (found === undefined) throw workflowNotFound(workflowId, version);
    return create(GetWorkflowResponseSchema, { workflow: toWireWorkflow(found) });
  },
  listWorkflows: async (request) => {
    const page = await pages.page(request, (asked) => listWorkflows(pool, DEFAULT_TENANT, asked));
    const { nextPageToken } = page;
    const wire = page.rows.map(toWireWorkflow);
    return create(ListWorkflowsResponseSchema, { workflows: wire, nextPageToken });
  },
  updateWorkflow: forwarded(workflows.updateWorkflow, parseUpdateWorkflow),
  deleteWorkflow: forwarded(workflows.deleteWorkflow, parseDeleteWorkflow),
  pauseWorkflow: forwarded(workflows.pauseWorkflow, parsePauseWorkflow),
  resumeWorkflow: forwarded(workflows.resumeWorkflow, parsePauseWorkflow),
  validateWorkflow: async ({ definition }) => {
    const text = definitionTextOf(definition?.text);
    // Only the rules about node types need the store. Without it the definition is still checked.
    const types = await readKnownTypes(pool, text).catch(() => undefined);
    const parsed = parseDefinition(text, { types });
    return create(
      ValidateWorkflowResponseSchema,
      parsed.ok
        ? {
            definitionJson: toJsonBytes(parsed.canonicalJson),
            warnings: parsed.warnings.map(toWireViolation),
          }
        : { violations: parsed.violations.map(toWireViolation) },
    );
  },
});

function workflowNotFound(workflowId: string, version: number): EngineError {
  const which = version === 0 ? workflowId : `${workflowId} version ${version}`;
  return new EngineError("WORKFLOW_NOT_FOUND", `There is no workflow ${which}.`, {
    metadata: { workflow_id: workflowId, version: String(version) },
  });
}
