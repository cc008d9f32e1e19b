// Workflows: create, apply (create or update), read, validate, delete, pause.

import type { Client } from "@connectrpc/connect";
import type { Pause } from "@pawl/proto/pawl/v1/pause_pb";
import type { Violation, Workflow } from "@pawl/proto/pawl/v1/workflow_pb";
import type { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";
import {
  type Caller,
  type MutationOptions,
  type PawlCallOptions,
  present,
  requestIdOf,
} from "./caller.ts";
import { type DefinitionInput, definitionText } from "./definition-text.ts";
import { PawlError } from "./errors.ts";
import { type PauseOptions, wordsOf } from "./pause-words.ts";
import { type Json, jsonOf } from "./json.ts";

export interface SaveOptions extends MutationOptions {
  /** The id; default the definition's own. */
  readonly workflowId?: string | undefined;
  /** Refuse the definition where there are warnings. */
  readonly strict?: boolean | undefined;
}

export interface UpdateOptions extends MutationOptions {
  /** The version this edit was made on; without it the last writer wins. */
  readonly expectedVersion?: number | undefined;
  /** Refuse the definition where there are warnings. */
  readonly strict?: boolean | undefined;
}

export interface AppliedWorkflow {
  readonly workflow: Workflow;
  /** What is allowed and most likely a mistake. */
  readonly warnings: readonly Violation[];
  readonly outcome: "created" | "updated" | "unchanged";
}

export interface Validation {
  /** Every broken rule at once; empty when the definition is valid. */
  readonly violations: readonly Violation[];
  /** What is allowed and most likely a mistake; empty when a rule is broken. */
  readonly warnings: readonly Violation[];
  /** The definition in canonical form, when it is valid. */
  readonly definition: Json | undefined;
}

export interface WorkflowPage {
  readonly workflows: readonly Workflow[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
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
  /** Makes the saved workflow be this definition: creates or updates, and may be repeated. */
  apply(definition: DefinitionInput, options?: SaveOptions): Promise<AppliedWorkflow>;
  get(
    workflowId: string,
    options?: PawlCallOptions & { readonly version?: number },
  ): Promise<Workflow>;
  list(
    options?: PawlCallOptions & { readonly pageSize?: number; readonly pageToken?: string },
  ): Promise<WorkflowPage>;
  /** Checks a definition and saves nothing; broken rules are a value here, not an error. */
  validate(definition: DefinitionInput, options?: PawlCallOptions): Promise<Validation>;
  /** @throws PawlError HAS_LIVE_RUNS unless forced */
  delete(
    workflowId: string,
    options?: MutationOptions & { readonly force?: boolean },
  ): Promise<void>;
  /** Holds all its runs, also those that are started meanwhile; what runs finishes. @throws PawlError WORKFLOW_NOT_FOUND */
  pause(workflowId: string, options?: PauseOptions): Promise<Pause>;
  /** Lets its runs go on, but for those paused by themselves; whether some have yet to. @throws PawlError WORKFLOW_NOT_FOUND */
  resume(workflowId: string, options?: PauseOptions): Promise<{ readonly resuming: boolean }>;
}

/** The workflow methods of a client. */
export function createWorkflows(rpc: Client<typeof WorkflowService>, call: Caller): Workflows {
  const create: Save["create"] = async (definition, options = {}) => {
    const request = {
      workflowId: options.workflowId ?? "",
      definition: { text: definitionText(definition) },
      requestId: requestIdOf(options),
      strict: options.strict ?? false,
    };
    const { workflow, warnings } = await call(options, (o) => rpc.createWorkflow(request, o));
    return { workflow: present(workflow), warnings };
  };
  const update: Save["update"] = async (workflowId, definition, options = {}) => {
    const request = {
      workflowId,
      definition: { text: definitionText(definition) },
      expectedVersion: options.expectedVersion ?? 0,
      requestId: requestIdOf(options),
      strict: options.strict ?? false,
    };
    const { workflow, warnings } = await call(options, (o) => rpc.updateWorkflow(request, o));
    return { workflow: present(workflow), warnings };
  };
  const get: Workflows["get"] = async (workflowId, options = {}) => {
    const request = { workflowId, version: options.version ?? 0 };
    return present((await call(options, (o) => rpc.getWorkflow(request, o))).workflow);
  };
  const validate: Workflows["validate"] = async (definition, options) => {
    const request = { definition: { text: definitionText(definition) } };
    const response = await call(options, (o) => rpc.validateWorkflow(request, o));
    const { violations, warnings, definitionJson } = response;
    return { violations, warnings, definition: jsonOf(definitionJson) };
  };
  return {
    create: async (definition, options) => (await create(definition, options)).workflow,
    update: async (id, definition, options) => (await update(id, definition, options)).workflow,
    get,
    validate,
    apply: (definition, options = {}) =>
      applyWorkflow({ create, update, get, validate }, definition, options),
    async list(options = {}) {
      const request = { pageSize: options.pageSize ?? 0, pageToken: options.pageToken ?? "" };
      const page = await call(options, (o) => rpc.listWorkflows(request, o));
      return { workflows: page.workflows, nextPageToken: page.nextPageToken };
    },
    async delete(workflowId, options = {}) {
      const request = {
        workflowId,
        force: options.force ?? false,
        requestId: requestIdOf(options),
      };
      await call(options, (o) => rpc.deleteWorkflow(request, o));
    },
    async pause(workflowId, options = {}) {
      const request = { workflowId, ...wordsOf(options) };
      return present((await call(options, (o) => rpc.pauseWorkflow(request, o))).pause);
    },
    async resume(workflowId, options = {}) {
      const request = { workflowId, ...wordsOf(options) };
      const { resuming } = await call(options, (o) => rpc.resumeWorkflow(request, o));
      return { resuming };
    },
  };
}

type Saved = Pick<AppliedWorkflow, "workflow" | "warnings">;

interface Save {
  create(definition: DefinitionInput, options?: SaveOptions): Promise<Saved>;
  update(workflowId: string, definition: DefinitionInput, options?: UpdateOptions): Promise<Saved>;
}

/** The last writer wins; a workflow that appears between the look and the create is updated instead. */
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

/** The server reads the id out of the text, so that this client needs no parser for YAML. */
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
