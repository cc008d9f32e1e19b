// Runs as functions: start a run, wait for its end, and return its output or its record.

import type { AcceptedSubmission } from "@pawl/proto/pawl/v1/run_service_pb";
import { hasCallbacks, followWithCallbacks, type StepCallbacks } from "./callbacks.ts";
import type { Submitter } from "./connection.ts";
import type { Watch } from "./execute.ts";
import type { Json } from "./json.ts";
import type { Results, RunResult } from "./result.ts";
import { acceptedOf, type RunOptions, startRequest } from "./runs.ts";
import type { StreamItem, StreamOptions } from "./stream.ts";
import { endOfRun, outputOf } from "./submit.ts";

export interface RunToEndOptions extends RunOptions, StepCallbacks {
  /** Return the record of the run instead of its output, however the run ended: status, output, exception, state, times and webhooks. */
  readonly withResult?: boolean | undefined;
}

export interface RunToEnd {
  /**
   * Starts a run and returns its output, across reconnects. `Out` is the shape of the output that the caller expects. The output is null if
   * there is none. An abort rejects, and the run continues. @throws RunFailed if the run did not complete; PawlError if the call failed
   */
  <Out = Json>(
    workflowId: string,
    input?: Json,
    options?: RunToEndOptions & { readonly withResult?: false | undefined },
  ): Promise<Out>;
  /** Starts a run and returns its record, however it ended. @throws PawlError if the call failed */
  <Out = Json>(
    workflowId: string,
    input: Json | undefined,
    options: RunToEndOptions & { readonly withResult: true },
  ): Promise<RunResult<Out>>;
}

interface RunParts {
  readonly submitter: Submitter;
  readonly watch: Watch;
  readonly stream: (
    runId: string,
    options: StreamOptions,
  ) => AsyncGenerator<StreamItem, void, undefined>;
  readonly results: Results;
}

export const createRun =
  ({ submitter, watch, stream, results }: RunParts): RunToEnd =>
  async (workflowId: string, input?: Json, asked: RunToEndOptions = {}) => {
    const { signal, onStart, onCheckpoint, onTaskResult, withResult, ...run } = asked;
    const start = startRequest(workflowId, { input, ...run });
    const onAccepted = onStart && ((accepted: AcceptedSubmission) => onStart(acceptedOf(accepted)));
    const callbacks = { onCheckpoint, onTaskResult };
    const endWithCallbacks = async () => {
      const { runId } = await submitter.start(start, { signal, onAccepted });
      await followWithCallbacks((form) => stream(runId, form), { signal }, callbacks);
      return endOfRun(watch, runId, signal);
    };
    const end = hasCallbacks(callbacks)
      ? await endWithCallbacks()
      : await submitter.run(start, { signal, onAccepted });
    // The caller names the shape of the output. The engine checks it if the workflow has a contract.
    if (withResult === true) return (await results.result(end.runId, { signal })) as never;
    return outputOf(end, (options) => results.result(end.runId, options)) as never;
  };
