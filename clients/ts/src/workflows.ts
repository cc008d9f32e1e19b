// Workflows: create, apply (create or update), read, validate, delete, pause.

import type { Client } from "@connectrpc/connect";
import type { Pause } from "@pawl/proto/pawl/v1/pause_pb";
import type { DailyBudget, Violation, Workflow } from "@pawl/proto/pawl/v1/workflow_pb";
import type { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";
import {
  type Caller,
  identified,
  type MutationOptions,
  type Page,
  type PageOptions,
  type PauseOptions,
  type PawlCallOptions,
  pick,
  present,
} from "./caller.ts";
import { PawlError } from "./errors.ts";
import { type DefinitionInput, definitionOf, type Json, jsonOf } from "./json.ts";

export interface SaveOptions extends MutationOptions {
  /** The id; default the definition's own. */
  readonly workflowId?: string | undefined;
  /** Refuses the definition if there are warnings. */
  readonly strict?: boolean | undefined;
}

export interface UpdateOptions extends MutationOptions {
  /** The version that this edit was made on. Without it the last writer wins. */
  readonly expectedVersion?: number | undefined;
  /** Refuses the definition if there are warnings. */
  readonly strict?: boolean | undefined;
}

interface Saved {
  readonly workflow: Workflow;
  /** Places that are allowed but contain a likely mistake. */
  readonly warnings: readonly Violation[];
}

export interface AppliedWorkflow extends Saved {
  readonly outcome: "created" | "updated" | "unchanged";
}

export interface Validation {
  /** Every broken rule at once. Empty when the definition is valid. */
  readonly violations: readonly Violation[];
  /** Places that are allowed but contain a likely mistake. Empty if a rule is broken. */
  readonly warnings: readonly Violation[];
  /** The definition in canonical form, when it is valid. */
  readonly definition: Json | undefined;
}

export type WorkflowPage = Page<"workflows", Workflow>;
export type DailyBudgetPage = Page<"dailyBudgets", DailyBudget>;

export interface ListDailyBudgetsOptions extends PageOptions {
  /** Only the days of this workflow. */
  readonly workflowId?: string | undefined;
}

export interface Workflows {
  /** Saves version 1. @throws PawlError WORKFLOW_EXISTS, DEFINITION_INVALID, CYCLE_DETECTED */
  create(definition: DefinitionInput, options?: SaveOptions): Promise<Workflow>;
  /** Saves a new version. @throws PawlError VERSION_MISMATCH when `expectedVersion` is not the newest */
  update(
    workflowId: string,
    definition: DefinitionInput,
    options?: UpdateOptions,
  ): Promise<Workflow>;
  /** Creates or updates the saved workflow. A repeat is harmless. */
  apply(definition: DefinitionInput, options?: SaveOptions): Promise<AppliedWorkflow>;
  get(
    workflowId: string,
    options?: PawlCallOptions & { readonly version?: number | undefined },
  ): Promise<Workflow>;
  list(options?: PageOptions): Promise<WorkflowPage>;
  /** Checks a definition and saves nothing. Broken rules are a value here, not an error. */
  validate(definition: DefinitionInput, options?: PawlCallOptions): Promise<Validation>;
  /** @throws PawlError HAS_LIVE_RUNS unless forced */
  delete(
    workflowId: string,
    options?: MutationOptions & { readonly force?: boolean | undefined },
  ): Promise<void>;
  /** Pauses all runs of a workflow, also those that start while it is paused. Running nodes finish. @throws PawlError WORKFLOW_NOT_FOUND */
  pause(workflowId: string, options?: PauseOptions): Promise<Pause>;
  /**
   * Resumes the runs of a workflow, except runs paused one by one. `resuming` while some still wait. @throws PawlError WORKFLOW_NOT_FOUND
   */
  resume(workflowId: string, options?: PauseOptions): Promise<{ readonly resuming: boolean }>;
  /**
   * What the runs of a workflow with a daily budget reserved and used, the newest day first. @throws PawlError WORKFLOW_NOT_FOUND
   */
  dailyBudgets(options?: ListDailyBudgetsOptions): Promise<DailyBudgetPage>;
}

export function createWorkflows(rpc: Client<typeof WorkflowService>, call: Caller): Workflows {
  const create: Save["create"] = async (definition, options) => {
    const request = { ...identified(options), definition: definitionOf(definition) };
    return savedOf(await call(rpc.createWorkflow, request));
  };
  const update: Save["update"] = async (workflowId, definition, options) => {
    const request = { ...identified(options), workflowId, definition: definitionOf(definition) };
    return savedOf(await call(rpc.updateWorkflow, request));
  };
  const get: Workflows["get"] = (workflowId, options) =>
    pick(call(rpc.getWorkflow, { ...options, workflowId }), "workflow");
  const validate: Workflows["validate"] = async (definition, options) => {
    const request = { ...options, definition: definitionOf(definition) };
    const { violations, warnings, definitionJson } = await call(rpc.validateWorkflow, request);
    return { violations, warnings, definition: jsonOf(definitionJson) };
  };
  return {
    create: async (definition, options) => (await create(definition, options)).workflow,
    update: async (id, definition, options) => (await update(id, definition, options)).workflow,
    get,
    validate,
    apply: (definition, options = {}) =>
      applyWorkflow({ create, update, get, validate }, definition, options),
    list: (options = {}) => call(rpc.listWorkflows, options),
    async delete(workflowId, options) {
      await call(rpc.deleteWorkflow, { ...identified(options), workflowId });
    },
    pause: (workflowId, options) =>
      pick(call(rpc.pauseWorkflow, { ...identified(options), workflowId }), "pause"),
    async resume(workflowId, options) {
      const { resuming } = await call(rpc.resumeWorkflow, { ...identified(options), workflowId });
      return { resuming };
    },
    dailyBudgets: (options = {}) => call(rpc.listDailyBudgets, options),
  };
}

interface Save {
  create(definition: DefinitionInput, options?: SaveOptions): Promise<Saved>;
  update(workflowId: string, definition: DefinitionInput, options?: UpdateOptions): Promise<Saved>;
}

const savedOf = (answer: {
  readonly workflow?: Workflow | undefined;
  readonly warnings: readonly Violation[];
}): Saved => ({ workflow: present(answer.workflow), warnings: answer.warnings });

/** The last writer wins. Race: another client creates the workflow after the read. It is then updated. */
async function applyWorkflow(
  api: Save & Pick<Workflows, "get" | "validate">,
  definition: DefinitionInput,
  options: SaveOptions,
): Promise<AppliedWorkflow> {
  const { signal, strict } = options;
  const workflowId = options.workflowId ?? (await ownId(api, definition, options));
  if (workflowId === undefined) {
    return { ...(await api.create(definition, options)), outcome: "created" };
  }
  const known = await unless("WORKFLOW_NOT_FOUND", api.get(workflowId, { signal }));
  if (known === undefined) {
    const made = await unless(
      "WORKFLOW_EXISTS",
      api.create(definition, { ...options, workflowId }),
    );
    if (made !== undefined) return { ...made, outcome: "created" };
  }
  const updated = await api.update(workflowId, definition, { signal, strict });
  const isSame = updated.workflow.version === known?.version;
  return { ...updated, outcome: isSame ? "unchanged" : "updated" };
}

/** The server reads the id from the text, so this client needs no YAML parser. */
async function ownId(
  api: Pick<Workflows, "validate">,
  definition: DefinitionInput,
  options: PawlCallOptions,
): Promise<string | undefined> {
  const canonical = (await api.validate(definition, { signal: options.signal })).definition;
  if (typeof canonical !== "object" || canonical === null || !("id" in canonical)) return undefined;
  const { id } = canonical;
  return typeof id === "string" && id !== "" ? id : undefined;
}

async function unless<T>(reason: string, promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof PawlError && error.reason === reason) return undefined;
    throw error;
  }
}
