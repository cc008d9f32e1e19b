// Commands of the workflow queue: a scheduler carries each out later, once.

import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { QueueService } from "@pawl/proto/pawl/v1/queue_service_pb";
import {
  type CommandState,
  CommandType,
  type QueuedCommand,
} from "@pawl/proto/pawl/v1/queued_command_pb";
import { Decision } from "@pawl/proto/pawl/v1/run_service_pb";
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

export interface EnqueueOptions extends MutationOptions {
  /** A lower number is sooner. -1000 to 1000, default 0. */
  readonly priority?: number | undefined;
  /** How many deliveries may fail before the command is given up; default 3. */
  readonly maxAttempts?: number | undefined;
  /** How long the command waits at least. */
  readonly delayMs?: number | undefined;
}

export interface EnqueueStartOptions extends EnqueueOptions {
  /** The input as a value. */
  readonly input?: Json | undefined;
  /** The input as JSON text, kept to the letter. It takes precedence. */
  readonly inputJson?: string | undefined;
  /** A UUID by which a later `resume` names the run; default the id of the command. */
  readonly runId?: string | undefined;
}

export interface EnqueueResumeOptions extends EnqueueOptions {
  /** The workflow of the run. */
  readonly workflowId: string;
  readonly iteration?: number | undefined;
  readonly comment?: string | undefined;
  readonly decidedBy?: string | undefined;
  /** The response as a value. */
  readonly response?: Json | undefined;
  /** The response as JSON text, kept to the letter. It takes precedence. */
  readonly responseJson?: string | undefined;
}

export interface ListCommandsOptions extends PageOptions {
  /** Only these states; default all. */
  readonly states?: readonly CommandState[] | undefined;
}

export type CommandPage = Page<"commands", QueuedCommand>;

export interface Commands {
  /** Enqueues the start of a run. @throws PawlError INPUT_INVALID, REQUEST_ID_REUSED */
  start(workflowId: string, options?: EnqueueStartOptions): Promise<QueuedCommand>;
  /** Enqueues the answer to a node that waits for a person. `runId` is the id of the run, or the name of its start. @throws PawlError */
  resume(
    runId: string,
    nodeId: string,
    decision: "approve" | "reject",
    options: EnqueueResumeOptions,
  ): Promise<QueuedCommand>;
  /** A command with its state, and the run that it started. @throws PawlError QUEUE_JOB_NOT_FOUND */
  get(commandId: string, options?: PawlCallOptions): Promise<QueuedCommand>;
  /** A page of commands, newest first. */
  list(options?: ListCommandsOptions): Promise<CommandPage>;
  /** Ends a command that waits. @throws PawlError QUEUE_JOB_NOT_FOUND, QUEUE_JOB_NOT_CANCELLABLE */
  cancel(commandId: string, options?: MutationOptions): Promise<QueuedCommand>;
  /** Lets a command that was given up wait again. @throws PawlError QUEUE_JOB_NOT_FOUND, QUEUE_JOB_NOT_DEAD */
  redrive(commandId: string, options?: MutationOptions): Promise<QueuedCommand>;
  /** Closes a command that was given up. @throws PawlError QUEUE_JOB_NOT_FOUND, QUEUE_JOB_NOT_DEAD */
  discard(commandId: string, options?: MutationOptions): Promise<QueuedCommand>;
}

export const createCommands = (rpc: Client<typeof QueueService>, call: Caller): Commands => ({
  start: (workflowId, options = {}) => {
    const { input, inputJson, runId } = options;
    const about = { type: CommandType.START, workflowId, runId };
    const request = { ...fieldsOf(options), ...about, inputJson: bytesOf(input, inputJson) };
    return pick(call(rpc.enqueueCommand, request), "command");
  },
  resume: (runId, nodeId, decision, options) => {
    const { workflowId, iteration = 0, comment = "", decidedBy = "" } = options;
    const answer = {
      ...{ $typeName: "pawl.v1.CommandAnswer" as const, nodeId, iteration, comment, decidedBy },
      decision: decision === "approve" ? Decision.APPROVE : Decision.REJECT,
      responseJson: bytesOf(options.response, options.responseJson) ?? new Uint8Array(),
      valuesLeftOut: [],
    };
    const about = { type: CommandType.RESUME, workflowId, runId, answer };
    return pick(call(rpc.enqueueCommand, { ...fieldsOf(options), ...about }), "command");
  },
  get: (commandId, options) => pick(call(rpc.getCommand, { ...options, commandId }), "command"),
  list: (options = {}) => call(rpc.listCommands, options),
  cancel: (commandId, options) =>
    pick(call(rpc.cancelCommand, { ...identified(options), commandId }), "command"),
  redrive: (commandId, options) =>
    pick(call(rpc.redriveCommand, { ...identified(options), commandId }), "command"),
  discard: (commandId, options) =>
    pick(call(rpc.discardCommand, { ...identified(options), commandId }), "command"),
});

/** The fields that a start and a resume share. */
function fieldsOf(options: EnqueueOptions) {
  const { signal, requestId, priority, maxAttempts, delayMs } = identified(options);
  const delay = delayMs === undefined || delayMs === 0 ? undefined : durationFromMs(delayMs);
  return { signal, requestId, priority, maxAttempts, delay };
}
