// Runs: start, execute, test, read, cancel, delete, wait.

import type { Client } from "@connectrpc/connect";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { Effect } from "@pawl/proto/pawl/v1/effect_pb";
import type { Explanation } from "@pawl/proto/pawl/v1/explain_pb";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import type { Run, RunKind, RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import type { Violation } from "@pawl/proto/pawl/v1/workflow_pb";
import { Decision, IdempotencyScope, type RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import {
  type Caller,
  type MutationOptions,
  type PawlCallOptions,
  present,
  requestIdOf,
} from "./caller.ts";
import { type DefinitionInput, definitionText } from "./definition-text.ts";
import { begin, type Watch } from "./execute.ts";
import { type Json, jsonBytes, jsonOf, jsonTextBytes } from "./json.ts";
import { type PauseOptions, wordsOf } from "./pause-words.ts";
import { TERMINAL_EVENT_TYPES } from "./status.ts";
import type { WatchOptions } from "./watch.ts";

export interface RunInputOptions extends MutationOptions {
  /** The input as a value. */
  readonly input?: Json | undefined;
  /** The input as JSON text, kept to the letter; takes precedence. */
  readonly inputJson?: string | undefined;
}

export interface StartRunOptions extends RunInputOptions {
  /** Which version; default the newest. */
  readonly version?: number | undefined;
  /** Sooner for lower numbers; -1000 to 1000, default 0. */
  readonly priority?: number | undefined;
  /** How long the run may take; default the definition's own. */
  readonly deadlineMs?: number | undefined;
  /** The same workflow and input start nothing again for this long: the first run is given instead. */
  readonly dedupeInputMs?: number | undefined;
}

export interface StartedRun {
  readonly run: Run;
  /** Whether this request had been accepted before. */
  readonly isDuplicate: boolean;
}

export interface TestedRun extends StartedRun {
  /** What is allowed in the graph and most likely a mistake. */
  readonly warnings: readonly Violation[];
}

export interface ExecuteOptions extends StartRunOptions, Omit<WatchOptions, "afterEventId"> {
  /** Told once, when the run is accepted. */
  readonly onStart?: ((started: StartedRun) => void) | undefined;
}

export interface RunWithDefinition {
  readonly run: Run;
  /** The definition it runs. */
  readonly definition: Json | undefined;
}

export interface ListRunsOptions extends PawlCallOptions {
  readonly statuses?: readonly RunStatus[] | undefined;
  readonly workflowId?: string | undefined;
  readonly kind?: RunKind | undefined;
  /** Only runs that this schedule started. */
  readonly scheduleId?: string | undefined;
  /** The beginning of a workflow id, of words of its title or of a run id, or the last eight digits of a run id. */
  readonly query?: string | undefined;
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
}

export interface DecideOptions extends MutationOptions {
  /** Which execution of the node; 0 outside loops and maps. */
  readonly iteration?: number | undefined;
  /** Why, for people. */
  readonly comment?: string | undefined;
}

export interface PauseRunOptions extends PauseOptions {
  /** Also the runs below it. */
  readonly children?: boolean | undefined;
}

export interface RunPage {
  readonly runs: readonly Run[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

export interface EffectsOptions extends PawlCallOptions {
  /** Only those of this node. */
  readonly nodeId?: string | undefined;
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
}

export interface EffectPage {
  readonly effects: readonly Effect[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

export interface Runs {
  /** Accepts a run of a saved workflow and returns at once. */
  start(workflowId: string, options?: StartRunOptions): Promise<StartedRun>;
  /**
   * Starts a run and gives its events from the first one on, once and in order, across reconnects; ends after the terminal one.
   * Aborting rejects while it is not known whether the run was accepted, and ends the stream quietly afterwards; the run goes on.
   */
  execute(workflowId: string, options?: ExecuteOptions): AsyncGenerator<RunEvent, void, undefined>;
  /** Runs a graph that is not saved. */
  test(definition: DefinitionInput, options?: RunInputOptions): Promise<TestedRun>;
  /** One run with its nodes and its definition. */
  get(runId: string, options?: PawlCallOptions): Promise<RunWithDefinition>;
  /** A page of runs, newest first, without inputs, outputs and nodes. */
  list(options?: ListRunsOptions): Promise<RunPage>;
  /** Why a node stands where it stands, with the events that prove it. @throws PawlError NODE_NOT_FOUND */
  explain(runId: string, nodeId: string, options?: ExplainOptions): Promise<Explanation>;
  /** A page of what a run did to the outside world, as the effect ledger has it. */
  effects(runId: string, options?: EffectsOptions): Promise<EffectPage>;
  /** Aborts what runs. @throws PawlError RUN_ALREADY_FINISHED */
  cancel(runId: string, options?: MutationOptions & { readonly reason?: string }): Promise<Run>;
  /** Stops planning and claiming; what runs finishes. Harmless when it is paused already. @throws PawlError RUN_ALREADY_FINISHED */
  pause(runId: string, options?: PauseRunOptions): Promise<Run>;
  /** Lets a paused run go on. @throws PawlError WORKFLOW_PAUSED, RUN_ALREADY_FINISHED */
  resume(runId: string, options?: PauseRunOptions): Promise<Run>;
  /** Approves or rejects a node that waits for a person. @throws PawlError NODE_NOT_HELD, NODE_ALREADY_DECIDED */
  decide(
    runId: string,
    nodeId: string,
    decision: "approve" | "reject",
    options?: DecideOptions,
  ): Promise<Run>;
  /** Reads the whole log again and lifts a quarantine when it is whole. @throws PawlError EVENT_LOG_CORRUPTION */
  recheck(runId: string, options?: MutationOptions): Promise<Run>;
  /** Removes a test run whole; a live one is cancelled first. @throws PawlError RUN_NOT_DELETABLE */
  delete(runId: string, options?: MutationOptions): Promise<void>;
  /** Waits for the end, across reconnects, and returns the run as it ended, however it did. Rejects when aborted. */
  wait(runId: string, options?: WaitOptions): Promise<Run>;
}

export interface ExplainOptions extends PawlCallOptions {
  /** Which execution of the node; 0 outside loops and maps. */
  readonly iteration?: number | undefined;
}

export type WaitOptions = Omit<WatchOptions, "types" | "afterEventId">;

/** The run methods of a client. */
export function createRuns(rpc: Client<typeof RunService>, call: Caller, watch: Watch): Runs {
  const get: Runs["get"] = async (runId, options) => {
    const response = await call(options, (o) => rpc.getRun({ runId }, o));
    return { run: present(response.run), definition: jsonOf(response.definitionJson) };
  };
  return {
    get,
    async start(workflowId, options = {}) {
      const request = startRequest(workflowId, options);
      const response = await call(options, (o) => rpc.startRun(request, o));
      return { run: present(response.run), isDuplicate: response.duplicate };
    },
    async *execute(workflowId, options = {}) {
      const types = [...(options.types ?? [])];
      const request = { start: startRequest(workflowId, options), types };
      const begun = await call(options, (o) => begin(rpc, request, o));
      try {
        options.onStart?.(begun.started);
      } catch (thrown) {
        begun.connection.close();
        throw thrown;
      }
      yield* watch(begun.started.run.runId, options, begun.connection);
    },
    async test(definition, options = {}) {
      const request = {
        definition: { text: definitionText(definition) },
        inputJson: inputBytes(options),
        requestId: requestIdOf(options),
      };
      const { run, duplicate, warnings } = await call(options, (o) => rpc.testRun(request, o));
      return { run: present(run), isDuplicate: duplicate, warnings };
    },
    async list(options = {}) {
      const request = listRequest(options);
      const { runs, nextPageToken } = await call(options, (o) => rpc.listRuns(request, o));
      return { runs, nextPageToken };
    },
    async explain(runId, nodeId, options = {}) {
      const request = { runId, nodeId, iteration: options.iteration ?? 0 };
      return present((await call(options, (o) => rpc.explainNode(request, o))).explanation);
    },
    async effects(runId, options = {}) {
      const { nodeId = "", pageSize = 0, pageToken = "" } = options;
      const request = { runId, nodeId, pageSize, pageToken };
      const page = await call(options, (o) => rpc.listEffects(request, o));
      return { effects: page.effects, nextPageToken: page.nextPageToken };
    },
    async cancel(runId, options = {}) {
      const request = { runId, reason: options.reason ?? "", requestId: requestIdOf(options) };
      return present((await call(options, (o) => rpc.cancelRun(request, o))).run);
    },
    ...steering(rpc, call),
    async recheck(runId, options) {
      const request = { runId, requestId: requestIdOf(options) };
      return present((await call(options, (o) => rpc.recheckRun(request, o))).run);
    },
    async delete(runId, options) {
      const request = { runId, requestId: requestIdOf(options) };
      await call(options, (o) => rpc.deleteRun(request, o));
    },
    async wait(runId, options = {}) {
      for await (const _ of watch(runId, { ...options, types: TERMINAL_EVENT_TYPES })) break;
      options.signal?.throwIfAborted();
      return (await get(runId, options)).run;
    },
  };
}

const listRequest = (options: ListRunsOptions) => ({
  statuses: [...(options.statuses ?? [])],
  workflowId: options.workflowId ?? "",
  kind: options.kind ?? 0,
  scheduleId: options.scheduleId ?? "",
  query: options.query ?? "",
  pageSize: options.pageSize ?? 0,
  pageToken: options.pageToken ?? "",
});

function startRequest(workflowId: string, options: StartRunOptions) {
  const { version = 0, priority = 0, deadlineMs, dedupeInputMs } = options;
  return {
    workflowId,
    version,
    priority,
    inputJson: inputBytes(options),
    requestId: requestIdOf(options),
    ...(deadlineMs === undefined ? {} : { deadline: durationFromMs(deadlineMs) }),
    ...(dedupeInputMs === undefined ? {} : { idempotency: byInput(dedupeInputMs) }),
  };
}

/** What people say to a run that lives. */
const steering = (
  rpc: Client<typeof RunService>,
  call: Caller,
): Pick<Runs, "pause" | "resume" | "decide"> => ({
  async decide(runId, nodeId, decision, options = {}) {
    const { iteration = 0, comment = "" } = options;
    const said = decision === "approve" ? Decision.APPROVE : Decision.REJECT;
    const requestId = requestIdOf(options);
    const request = { runId, nodeId, iteration, decision: said, comment, requestId };
    return present((await call(options, (o) => rpc.decideNode(request, o))).run);
  },

  async pause(runId, options = {}) {
    const request = pauseRequest(runId, options);
    return present((await call(options, (o) => rpc.pauseRun(request, o))).run);
  },
  async resume(runId, options = {}) {
    const request = pauseRequest(runId, options);
    return present((await call(options, (o) => rpc.resumeRun(request, o))).run);
  },
});

const pauseRequest = (runId: string, options: PauseRunOptions) => ({
  runId,
  children: options.children ?? false,
  ...wordsOf(options),
});

const byInput = (ttlMs: number) => ({
  scope: IdempotencyScope.INPUT_HASH,
  ttl: durationFromMs(ttlMs),
});

function inputBytes(options: RunInputOptions): Uint8Array {
  if (options.inputJson !== undefined) return jsonTextBytes(options.inputJson);
  return options.input === undefined ? new Uint8Array() : jsonBytes(options.input);
}
