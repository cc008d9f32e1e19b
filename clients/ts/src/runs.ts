// Runs: start, execute, test, read, signal, cancel, delete, wait.

import type { Client } from "@connectrpc/connect";
import type { Effect } from "@pawl/proto/pawl/v1/effect_pb";
import type { Explanation, TaintTrace } from "@pawl/proto/pawl/v1/explain_pb";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import type { WorkflowState } from "@pawl/core/log/workflow-state-shape";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import type { Violation } from "@pawl/proto/pawl/v1/workflow_pb";
import {
  type AcceptedSubmission,
  Decision,
  type Invocation,
  type RunService,
} from "@pawl/proto/pawl/v1/run_service_pb";
import {
  type Caller,
  identified,
  type MutationOptions,
  type Page,
  type PageOptions,
  type PauseOptions,
  type PawlCallOptions,
  pick,
} from "./caller.ts";
import { type BudgetOptions, createTopUp, limitsOf, type TopUp } from "./budget.ts";
import type { Submitter } from "./connection.ts";
import { type PawlError, pawlErrorFrom } from "./errors.ts";
import { begin, startedOf, type Watch } from "./execute.ts";
import { type CancelRun, createCancel } from "./cancel.ts";
import { bytesOf, type DefinitionInput, definitionOf, type Json } from "./json.ts";
import { createFilters, type Filters } from "./filters.ts";
import { createRepairs, type Repairs } from "./repairs.ts";
import { createResults, type Results } from "./result.ts";
import { createSignal, type SignalRun } from "./signal.ts";
import { byInput } from "./by-input.ts";
import { boundsOf, createReads, type GetRunOptions, type RunBounds } from "./state.ts";
import { createStoredValues, type StoredValues } from "./stored-value.ts";
import { timeOf, type TimeOptions } from "./start-time.ts";
import { TERMINAL_EVENT_TYPES } from "./status.ts";
import type { TaintOf } from "./taint.ts";
import { type AssistantOptions, type ThreadOptions, threadOf } from "./threads.ts";
import type { WatchOptions } from "./watch.ts";
import { webhookOf, type WebhookOptions } from "./webhooks.ts";

export interface RunInputOptions extends MutationOptions, RunBounds, TimeOptions {
  /** The input as a value. */
  readonly input?: Json | undefined;
  /** The input as JSON text, kept to the letter. It takes precedence. */
  readonly inputJson?: string | undefined;
  /** The input is not trusted: it gets the label `input`. */
  readonly untrustedInput?: boolean | undefined;
  /** How much the run may use; default the definition's own. */
  readonly budget?: BudgetOptions | undefined;
}

export interface StartRunOptions
  extends RunInputOptions, WebhookOptions, ThreadOptions, AssistantOptions {
  /** The version of the workflow. The newest by default. */
  readonly version?: number | undefined;
  /** A lower number is sooner. -1000 to 1000, default 0. */
  readonly priority?: number | undefined;
  /** A JSON object to find the run by. Templates read it as `ctx.metadata`. */
  readonly metadata?: Json | undefined;
  /** For this long, a second start with the same workflow and input returns the first run. */
  readonly dedupeInputMs?: number | undefined;
}

export interface StartedRun {
  readonly run: Run;
  /** Whether the gateway had accepted this request before. */
  readonly isDuplicate: boolean;
}

/** Options of a start. Its input is a separate argument. */
export interface RunOptions extends Omit<StartRunOptions, "input"> {
  /** Called once, when the run is accepted. */
  readonly onStart?: ((accepted: AcceptedRun) => void) | undefined;
}

/** A run that was accepted. */
export interface AcceptedRun {
  readonly runId: string;
  /** Whether the gateway had accepted this request before. */
  readonly isDuplicate: boolean;
}

/** One of many starts. */
export interface StartItem extends Omit<StartRunOptions, "signal"> {
  readonly workflowId: string;
}

/** The answer to one of many starts. */
export type StartOutcome =
  | ({ readonly ok: true } & AcceptedRun)
  | { readonly ok: false; readonly error: PawlError };

export interface TestedRun extends StartedRun {
  /** Places in the graph that are allowed but contain a likely mistake. */
  readonly warnings: readonly Violation[];
}

export interface ExecuteOptions extends StartRunOptions, Omit<WatchOptions, "afterEventId"> {
  /** Called once, when the run is accepted. */
  readonly onStart?: ((started: StartedRun) => void) | undefined;
}

export interface RunWithDefinition {
  readonly run: Run;
  /** The definition of the run. */
  readonly definition: Json | undefined;
}

export interface ExplainOptions extends PawlCallOptions {
  /** The iteration of the node. 0 outside loops and maps. */
  readonly iteration?: number | undefined;
}

export interface DecideOptions extends ExplainOptions, MutationOptions {
  /** The reason, for people. */
  readonly comment?: string | undefined;
}

export interface PauseRunOptions extends PauseOptions {
  /** Also pauses or resumes the child runs. */
  readonly children?: boolean | undefined;
}

export interface EffectsOptions extends PageOptions {
  /** Only those of this node. */
  readonly nodeId?: string | undefined;
}

export type EffectPage = Page<"effects", Effect>;

export interface Runs extends Repairs, Results, Filters, StoredValues {
  /** Accepts a run of a saved workflow and returns at once. */
  start(workflowId: string, options?: StartRunOptions): Promise<StartedRun>;
  /** Starts many runs, in batches. Every start has its own outcome, in the order of the list. A refused start does not affect others. */
  startMany(items: readonly StartItem[], options?: PawlCallOptions): Promise<StartOutcome[]>;
  /**
   * Starts a run and yields its events from the first one on, once and in order, across reconnects. It ends after the terminal event. An
   * abort rejects while it is unknown whether the run was accepted. Later an abort only ends the stream, and the run continues.
   */
  execute(workflowId: string, options?: ExecuteOptions): AsyncGenerator<RunEvent, void, undefined>;
  /** Runs a graph that is not saved. */
  test(definition: DefinitionInput, options?: RunInputOptions): Promise<TestedRun>;
  /** One run with its nodes, its state and its definition, now or after an event. @throws PawlError RUN_NOT_FOUND, CURSOR_OUT_OF_RANGE */
  get(runId: string, options?: GetRunOptions): Promise<RunWithDefinition>;
  /** The workflow state of a run, now or after an event. @throws PawlError RUN_NOT_FOUND, CURSOR_OUT_OF_RANGE */
  state(runId: string, options?: GetRunOptions): Promise<WorkflowState>;
  /** Why a node is in its state, with the events that prove it. @throws PawlError NODE_NOT_FOUND */
  explain(runId: string, nodeId: string, options?: ExplainOptions): Promise<Explanation>;
  /** The events from the origins of the labels to a node, or to a key of the memory. @throws PawlError NODE_NOT_FOUND, MEMORY_KEY_NOT_FOUND */
  explainTaint(runId: string, of: TaintOf, options?: PawlCallOptions): Promise<TaintTrace>;
  /** The input and the config of the last start of a node, and its outcome. @throws PawlError NODE_NOT_FOUND, NODE_NOT_INVOKED */
  invocation(runId: string, nodeId: string, options?: ExplainOptions): Promise<Invocation>;
  /** A page of the effects of a run on the outside world, from the effect ledger. */
  effects(runId: string, options?: EffectsOptions): Promise<EffectPage>;
  /**
   * Aborts running nodes and ends the run. Completed nodes that have a compensation are undone first: the run is `compensating` until then,
   * and another cancel stops that. @throws PawlError RUN_ALREADY_FINISHED
   */
  cancel: CancelRun;
  /** Stops planning and claiming. Running nodes finish. A repeat is harmless. @throws PawlError RUN_ALREADY_FINISHED */
  pause(runId: string, options?: PauseRunOptions): Promise<Run>;
  /**
   * Resumes a paused run. A run that was interrupted never changes: a new run takes its results over and does the rest, and is returned.
   * @throws PawlError WORKFLOW_PAUSED, RUN_ALREADY_FINISHED
   */
  resume(runId: string, options?: PauseRunOptions): Promise<Run>;
  /** Sends a signal: the oldest wait for it ends, or the run keeps it. @throws PawlError SIGNAL_NOT_AWAITED, TOO_MANY_SIGNALS */
  signal: SignalRun;
  /** Raises the budget of a run. It continues if it paused for it. @throws PawlError BUDGET_NOT_LIMITED, RUN_ALREADY_FINISHED */
  topUp: TopUp;
  /** Approves or rejects a node that waits for a person. @throws PawlError NODE_NOT_HELD, NODE_ALREADY_DECIDED */
  decide(
    runId: string,
    nodeId: string,
    decision: "approve" | "reject",
    options?: DecideOptions,
  ): Promise<Run>;
  /** Checks the whole log again, and lifts the quarantine when the log is intact. @throws PawlError EVENT_LOG_CORRUPTION */
  recheck(runId: string, options?: MutationOptions): Promise<Run>;
  /** Deletes a test run with its history. It cancels a live one first. @throws PawlError RUN_NOT_DELETABLE */
  delete(runId: string, options?: MutationOptions): Promise<void>;
  /** Waits for the end, across reconnects, and returns the run in its final state. Rejects when aborted. */
  wait(runId: string, options?: WaitOptions): Promise<Run>;
}

export type WaitOptions = Omit<WatchOptions, "types" | "afterEventId">;

export function createRuns(
  rpc: Client<typeof RunService>,
  call: Caller,
  watch: Watch,
  submitter: Submitter,
): Runs {
  const reads = createReads(rpc, call);
  return {
    ...reads,
    ...createRepairs(rpc, call),
    ...createResults(rpc, call),
    ...createStoredValues(rpc, call),
    ...createFilters(rpc, call),
    start: async (workflowId, options) =>
      startedOf(await call(rpc.startRun, startRequest(workflowId, options))),
    startMany: (items, { signal } = {}) =>
      Promise.all(
        items.map(async ({ workflowId, ...item }): Promise<StartOutcome> => {
          try {
            const accepted = await submitter.start(startRequest(workflowId, item), { signal });
            return { ok: true, ...acceptedOf(accepted) };
          } catch (thrown) {
            return { ok: false, error: pawlErrorFrom(thrown) };
          }
        }),
      ),
    async *execute(workflowId, options = {}) {
      const { signal, types } = options;
      const request = { start: startRequest(workflowId, options), signal, types };
      const begun = await call(begin(rpc), request);
      try {
        options.onStart?.(begun.started);
      } catch (thrown) {
        begun.connection.close();
        throw thrown;
      }
      yield* watch(begun.started.run.runId, options, begun.connection);
    },
    async test(definition, options) {
      const request = { ...inputOf(options), definition: definitionOf(definition) };
      const answer = await call(rpc.testRun, request);
      return { ...startedOf(answer), warnings: answer.warnings };
    },
    explain: (runId, nodeId, o) =>
      pick(call(rpc.explainNode, { ...o, runId, nodeId }), "explanation"),
    explainTaint: (runId, of, o) => pick(call(rpc.explainTaint, { ...o, ...of, runId }), "trace"),
    invocation: (runId, nodeId, options) =>
      pick(call(rpc.getInvocation, { ...options, runId, nodeId }), "invocation"),
    effects: (runId, options) => call(rpc.listEffects, { ...options, runId }),
    cancel: createCancel(rpc, call),
    decide: (runId, nodeId, decision, options) => {
      const answer = decision === "approve" ? Decision.APPROVE : Decision.REJECT;
      const request = { ...identified(options), runId, nodeId, decision: answer };
      return pick(call(rpc.decideNode, request), "run");
    },
    signal: createSignal(rpc, call),
    pause: (runId, options) => pick(call(rpc.pauseRun, { ...identified(options), runId }), "run"),
    resume: (runId, options) => pick(call(rpc.resumeRun, { ...identified(options), runId }), "run"),
    topUp: createTopUp(rpc, call),
    recheck: (runId, o) => pick(call(rpc.recheckRun, { ...identified(o), runId }), "run"),
    delete: async (runId, o) => void (await call(rpc.deleteRun, { ...identified(o), runId })),
    async wait(runId, options = {}) {
      for await (const _ of watch(runId, { ...options, types: TERMINAL_EVENT_TYPES })) break;
      options.signal?.throwIfAborted();
      return (await reads.get(runId, options)).run;
    },
  };
}

/** The options with a request id, and the input as bytes. */
function inputOf(options: RunInputOptions = {}) {
  const { budget, signal, requestId, untrustedInput = false } = identified(options);
  const bytes = bytesOf(options.input, options.inputJson) ?? new Uint8Array();
  const limits = { ...boundsOf(options), ...limitsOf(budget) };
  return { signal, requestId, ...limits, ...timeOf(options), untrustedInput, inputJson: bytes };
}

export const acceptedOf = ({ runId, duplicate }: AcceptedSubmission): AcceptedRun => ({
  runId,
  isDuplicate: duplicate,
});

/** A start in the form of the wire. */
export function startRequest(workflowId: string, options: StartRunOptions = {}) {
  const { version = 0, priority = 0, dedupeInputMs, metadata } = options;
  return {
    ...{ ...inputOf(options), ...webhookOf(options), workflowId, version, priority },
    metadataJson: bytesOf(metadata, undefined) ?? new Uint8Array(),
    ...(dedupeInputMs === undefined ? {} : { idempotency: byInput(dedupeInputMs) }),
    ...threadOf(options),
  };
}
