// Assistants: workflows with fixed values, under an id of their own. A start or a thread names one in place of a workflow.

import type { Client } from "@connectrpc/connect";
import type { Assistant } from "@pawl/proto/pawl/v1/assistant_pb";
import type { AssistantService } from "@pawl/proto/pawl/v1/assistant_service_pb";
import { type BudgetOptions, limitsOf } from "./budget.ts";
import {
  type Caller,
  identified,
  type MutationOptions,
  type Page,
  type PageOptions,
  type PawlCallOptions,
  pick,
} from "./caller.ts";
import { bytesOf, type Json } from "./json.ts";
import { type Multitask, releaseOf, strategyOf, type ThreadRelease } from "./threads.ts";

/** What a start by the assistant gets if it does not set it itself. */
export interface StartDefaults {
  /** What the run is for; default the definition's own. */
  readonly goal?: string | undefined;
  /** The rules that its nodes respect; default the definition's own. */
  readonly constraints?: readonly string[] | undefined;
  /** How much the run may use. A start can lower it, and not raise it. */
  readonly budget?: BudgetOptions | undefined;
  /** What happens if the thread of the run has runs that have not ended. */
  readonly multitask?: Multitask | undefined;
  /** Whether the run gives its thread up while it only waits for people or signals. */
  readonly threadRelease?: ThreadRelease | undefined;
}

export interface AssistantInput {
  readonly workflowId: string;
  /** The version that its runs begin with. By default the newest at each start. */
  readonly workflowVersion?: number | undefined;
  /** A JSON object that every run gets beside its input. Templates and handlers read it as `ctx.config`. */
  readonly config?: Json | undefined;
  /** The config as JSON text, kept to the letter. It takes precedence. */
  readonly configJson?: string | undefined;
  /** A JSON object to find it by. */
  readonly metadata?: Json | undefined;
  readonly defaults?: StartDefaults | undefined;
}

export interface ListAssistantsOptions extends PageOptions {
  /** Only assistants whose metadata contains this object. */
  readonly metadata?: Json | undefined;
  readonly workflowId?: string | undefined;
}

export type AssistantPage = Page<"assistants", Assistant>;

export interface Assistants {
  /** Creates an assistant; with an empty id the scheduler makes one. @throws PawlError ASSISTANT_EXISTS, WORKFLOW_NOT_FOUND */
  create(assistantId: string, input: AssistantInput, options?: MutationOptions): Promise<Assistant>;
  /** @throws PawlError ASSISTANT_NOT_FOUND */
  get(assistantId: string, options?: PawlCallOptions): Promise<Assistant>;
  /** A page of assistants in order of id. */
  list(options?: ListAssistantsOptions): Promise<AssistantPage>;
  /**
   * Replaces everything about an assistant. No run that has begun changes.
   * @throws PawlError ASSISTANT_NOT_FOUND, and VERSION_MISMATCH when `expectedVersion` is not the newest
   */
  update(
    assistantId: string,
    input: AssistantInput,
    options?: MutationOptions & { readonly expectedVersion?: number | undefined },
  ): Promise<Assistant>;
  /** Deletes an assistant with its runs. `force` cancels those that have not ended. @throws PawlError ASSISTANT_NOT_FOUND, ASSISTANT_BUSY */
  delete(
    assistantId: string,
    options?: MutationOptions & { readonly force?: boolean | undefined },
  ): Promise<void>;
}

export function createAssistants(rpc: Client<typeof AssistantService>, call: Caller): Assistants {
  return {
    create: (assistantId, input, options) => {
      const request = { ...identified(options), assistantId, spec: specOf(input) };
      return pick(call(rpc.createAssistant, request), "assistant");
    },
    get: (assistantId, options) =>
      pick(call(rpc.getAssistant, { ...options, assistantId }), "assistant"),
    list: ({ metadata, ...options } = {}) =>
      call(rpc.listAssistants, { ...options, metadataJson: textOf(metadata) }),
    update: (assistantId, input, { expectedVersion = 0, ...options } = {}) => {
      const request = { ...identified(options), assistantId, spec: specOf(input), expectedVersion };
      return pick(call(rpc.updateAssistant, request), "assistant");
    },
    async delete(assistantId, options) {
      await call(rpc.deleteAssistant, { ...identified(options), assistantId });
    },
  };
}

function specOf(input: AssistantInput) {
  const { workflowId, workflowVersion = 0, config, configJson, metadata, defaults } = input;
  const { goal = "", constraints = [], budget, multitask, threadRelease } = defaults ?? {};
  const onThread = { ...strategyOf(multitask), ...releaseOf(threadRelease) };
  return {
    workflowId,
    workflowVersion,
    configJson: bytesOf(config, configJson) ?? new Uint8Array(),
    metadataJson: textOf(metadata),
    defaults: {
      goal,
      constraints: [...constraints],
      ...limitsOf(budget),
      ...onThread,
    },
  };
}

const textOf = (value: Json | undefined): Uint8Array =>
  bytesOf(value, undefined) ?? new Uint8Array();
