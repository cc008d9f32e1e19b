// WorkflowService at the gateway: reads from the store, validation here, changes checked and forwarded.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { parseDefinition } from "@pawl/core/definition/parse";
import { EngineError } from "@pawl/core/fault/engine-error";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { DayRecord } from "@pawl/platform/store/days/days";
import { listDays } from "@pawl/platform/store/days/reads";
import { readKnownTypes } from "@pawl/platform/store/node-types/reads";
import { getWorkflow, listWorkflows } from "@pawl/platform/store/workflows/reads";
import { isUntouched, toWireDay } from "@pawl/platform/wire/budget";
import { definitionTextOf, nameOf, optionalName } from "@pawl/platform/wire/fields";
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
  ListDailyBudgetsResponseSchema,
  ListWorkflowsResponseSchema,
  ValidateWorkflowResponseSchema,
  type WorkflowService,
} from "@pawl/proto/pawl/v1/workflow_service_pb";
import type { DefinitionCache } from "../read/definition-cache.ts";
import { forwarded } from "../request/forward.ts";
import type { ServiceParts } from "./service-parts.ts";

export const createWorkflowService = ({
  pool,
  pages,
  definitions,
  scheduler: { workflows },
  priceOf,
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
  listDailyBudgets: async (request) => {
    const workflowId = optionalName("workflow_id", request.workflowId);
    const page = await pages.page(request, (asked) =>
      listDays(pool, DEFAULT_TENANT, workflowId, asked),
    );
    const { rows, nextPageToken } = page;
    const isUnknown = workflowId !== "" && request.pageToken === "" && rows.length === 0;
    if (isUnknown) throw workflowNotFound(workflowId, 0);
    const days = await Promise.all(rows.map((row) => withLimit(definitions, row)));
    const dailyBudgets = days.filter((day) => day !== undefined);
    return create(ListDailyBudgetsResponseSchema, { dailyBudgets, nextPageToken });
  },
  validateWorkflow: async ({ definition }) => {
    const text = definitionTextOf(definition?.text);
    // Only the rules about node types need the store. Without it the definition is still checked.
    const types = await readKnownTypes(pool, text).catch(() => undefined);
    const parsed = parseDefinition(text, { types, priceOf });
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

/** A day with the limits of the newest version. Undefined if the workflow has no daily budget and used nothing. */
async function withLimit(definitions: DefinitionCache, row: DayRecord) {
  const { definitionId } = row;
  const graph = definitionId === null ? undefined : (await definitions.get(definitionId)).graph;
  const limit = graph?.definition.dailyBudget;
  return limit === undefined && isUntouched(row) ? undefined : toWireDay(row, limit);
}

function workflowNotFound(workflowId: string, version: number): EngineError {
  const which = version === 0 ? workflowId : `${workflowId} version ${version}`;
  return new EngineError("WORKFLOW_NOT_FOUND", `There is no workflow ${which}.`, {
    metadata: { workflow_id: workflowId, version: String(version) },
  });
}
