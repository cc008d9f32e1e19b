// WorkflowService at the edge: reads from the store, validation in place, changes forwarded.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { LIMITS } from "@pawl/core/data/limits";
import { parseDefinition } from "@pawl/core/definition/parse";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { WorkflowPage, WorkflowRecord } from "@pawl/platform/store/workflows/workflows";
import { toJsonBytes } from "@pawl/platform/wire/scalar";
import { toWireViolation, toWireWorkflow } from "@pawl/platform/wire/workflow";
import {
  GetWorkflowResponseSchema,
  ListWorkflowsResponseSchema,
  ValidateWorkflowResponseSchema,
  type WorkflowService,
} from "@pawl/proto/pawl/v1/workflow_service_pb";
import { forwardOptions, type Scheduler } from "../request/forward.ts";
import {
  checkDefinitionText,
  checkName,
  checkPageSize,
  checkRequestId,
  checkPauseRequest,
} from "../request/ingress.ts";

export interface WorkflowServiceDeps {
  readonly scheduler: Scheduler;
  readonly getWorkflow: (id: string, version: number) => Promise<WorkflowRecord | undefined>;
  /** Node types that executors serve now. */
  readonly servedTypes: () => Promise<ReadonlySet<string>>;
  readonly listWorkflows: (page: { size: number; token: string }) => Promise<WorkflowPage>;
}

const PAGE = { default: LIMITS.pageSize, max: LIMITS.pageSizeMax } as const;

export const createWorkflowService = (
  deps: WorkflowServiceDeps,
): ServiceImpl<typeof WorkflowService> => ({
  createWorkflow: (request, context) => {
    if (request.workflowId !== "") checkName("workflow_id", request.workflowId);
    checkDefinitionText(request.definition?.text);
    request.requestId = checkRequestId(request.requestId);
    return deps.scheduler.workflows.createWorkflow(request, forwardOptions(context));
  },
  getWorkflow: async ({ workflowId, version }) => {
    checkName("workflow_id", workflowId);
    const found = await deps.getWorkflow(workflowId, version);
    if (found === undefined) throw workflowNotFound(workflowId, version);
    return create(GetWorkflowResponseSchema, { workflow: toWireWorkflow(found) });
  },
  listWorkflows: async ({ pageSize, pageToken }) => {
    const size = checkPageSize(pageSize, PAGE);
    const page = await deps.listWorkflows({ size, token: pageToken });
    return create(ListWorkflowsResponseSchema, {
      workflows: page.workflows.map(toWireWorkflow),
      nextPageToken: page.nextPageToken,
    });
  },
  updateWorkflow: (request, context) => {
    checkName("workflow_id", request.workflowId);
    checkDefinitionText(request.definition?.text);
    request.requestId = checkRequestId(request.requestId);
    return deps.scheduler.workflows.updateWorkflow(request, forwardOptions(context));
  },
  deleteWorkflow: (request, context) => {
    checkName("workflow_id", request.workflowId);
    request.requestId = checkRequestId(request.requestId);
    return deps.scheduler.workflows.deleteWorkflow(request, forwardOptions(context));
  },
  pauseWorkflow: (request, context) => {
    checkName("workflow_id", request.workflowId);
    return deps.scheduler.workflows.pauseWorkflow(
      checkPauseRequest(request),
      forwardOptions(context),
    );
  },
  resumeWorkflow: (request, context) => {
    checkName("workflow_id", request.workflowId);
    return deps.scheduler.workflows.resumeWorkflow(
      checkPauseRequest(request),
      forwardOptions(context),
    );
  },
  validateWorkflow: async ({ definition }) => {
    const text = checkDefinitionText(definition?.text);
    // A definition is valid or not whether the store answers or not; only the warnings about types need it.
    const served = await deps.servedTypes().catch(() => undefined);
    const parsed = parseDefinition(text, { served });
    return parsed.ok
      ? create(ValidateWorkflowResponseSchema, {
          definitionJson: toJsonBytes(parsed.canonicalJson),
          warnings: parsed.warnings.map(toWireViolation),
        })
      : create(ValidateWorkflowResponseSchema, {
          violations: parsed.violations.map(toWireViolation),
        });
  },
});

function workflowNotFound(workflowId: string, version: number): EngineError {
  const which = version === 0 ? workflowId : `${workflowId} version ${version}`;
  return new EngineError("WORKFLOW_NOT_FOUND", `There is no workflow ${which}.`, {
    metadata: { workflow_id: workflowId, version: String(version) },
  });
}
