// Runs as functions: start a run and get its output. In Node the submissions share a standing stream. On other platforms each is a single
// call.

import type { Client } from "@connectrpc/connect";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { FailureClass, RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import {
  AcceptedSubmissionSchema,
  type RunEnd,
  RunEndSchema,
  type RunService,
} from "@pawl/proto/pawl/v1/run_service_pb";
import type { FailureClass as FailureClassName } from "@pawl/core/fault/class";
import type { RunStatus as RunStatusName } from "@pawl/core/log/event";
import { DEADLINE_PASSED, stopCause } from "@pawl/core/log/run-events";
import type { Caller, PawlCallOptions } from "./caller.ts";
import type { Submitter } from "./connection.ts";
import { PawlError } from "./errors.ts";
import { begin, type Connection, startedOf, type Watch } from "./execute.ts";
import { type Json, jsonOf } from "./json.ts";
import type { RunResult } from "./result.ts";
import { failureClassName, runStatusName, stopOf, TERMINAL_EVENT_TYPES } from "./status.ts";

type FetchResult = (options?: PawlCallOptions) => Promise<RunResult>;

/** A run that ended without completing. The call itself succeeded. */
export class RunFailed extends Error {
  override readonly name = "RunFailed";
  readonly runId: string;
  /** `failed`, `cancelled` or `timeout`. */
  readonly status: RunStatusName;
  /** The error message of the run. */
  readonly error: string;
  /** The node that failed first. Empty if none did. */
  readonly failedNodeId: string;
  /** Why, for programs: the cause of the node, or `cancelled`, `interrupted`, `rolled_back` or `deadline_passed`. */
  override readonly cause: string;
  /** What Pawl promises after this failure. Undefined if the gateway does not tell. */
  readonly failureClass: FailureClassName | undefined;

  readonly #fetch: FetchResult;

  constructor(end: RunEnd, fetch: FetchResult) {
    const status = runStatusName(end.status);
    super(`run ${end.runId} ended as ${status}${end.errorMessage && `: ${end.errorMessage}`}`);
    this.runId = end.runId;
    this.status = status;
    this.error = end.errorMessage;
    this.failedNodeId = end.failedNodeId;
    this.cause = end.cause;
    this.failureClass = failureClassName(end.failureClass);
    this.#fetch = fetch;
  }

  /** Reads the record of the run: its state, times, webhooks, and what the handler added to its failure. @throws PawlError */
  result(options?: PawlCallOptions): Promise<RunResult> {
    return this.#fetch(options);
  }
}

/** The output of a completed run. Null if it has none. @throws RunFailed */
export function outputOf(end: RunEnd, fetch: FetchResult): Json {
  if (end.status !== RunStatus.COMPLETED) throw new RunFailed(end, fetch);
  return jsonOf(end.outputJson) ?? null;
}

/** Submits by one call for each run, on platforms without streams in both directions. */
export const createCallSubmitter = (
  rpc: Client<typeof RunService>,
  call: Caller,
  watch: Watch,
): Submitter => ({
  async start(start, { signal, onAccepted } = {}) {
    const { run, isDuplicate } = startedOf(await call(rpc.startRun, { ...start, signal }));
    const accepted = create(AcceptedSubmissionSchema, { runId: run.runId, duplicate: isDuplicate });
    onAccepted?.(accepted);
    return accepted;
  },
  async run(start, { signal, onAccepted } = {}) {
    const types = TERMINAL_EVENT_TYPES;
    const { started, connection } = await call(begin(rpc), { start, types, signal });
    const { runId } = started.run;
    onAccepted?.(create(AcceptedSubmissionSchema, { runId, duplicate: started.isDuplicate }));
    return endOfRun(watch, runId, signal, connection);
  },
  close: () => undefined,
});

/** Waits for the end of a run. An abort rejects. @throws PawlError */
export async function endOfRun(
  watch: Watch,
  runId: string,
  signal: AbortSignal | undefined,
  first?: Connection,
): Promise<RunEnd> {
  const types = TERMINAL_EVENT_TYPES;
  for await (const event of watch(runId, { signal, types }, first)) return endOf(event);
  signal?.throwIfAborted();
  throw new PawlError("UNRECOGNISED", `run ${runId} ended without a terminal event`);
}

/** The end of a run, from its terminal event. */
const endOf = ({ runId, eventId: lastEventId, fact }: RunEvent): RunEnd =>
  create(RunEndSchema, { runId, lastEventId, ...endFields(fact) });

function endFields(fact: RunEvent["fact"]): MessageInitShape<typeof RunEndSchema> {
  if (fact.case === "runCompleted") {
    const { outputJson, hasFailures } = fact.value;
    return { status: RunStatus.COMPLETED, outputJson, hasFailures };
  }
  if (fact.case === "runFailed") {
    const { message: errorMessage, failedNodeId, cause, failureClass } = fact.value;
    const why = { errorMessage, failedNodeId, cause, failureClass };
    return { status: RunStatus.FAILED, hasFailures: true, ...why };
  }
  if (fact.case === "runCancelled") {
    const { reason: errorMessage, stop, failureClass } = fact.value;
    const cause = stopCause(stopOf(stop).stop);
    return { status: RunStatus.CANCELLED, errorMessage, cause, failureClass };
  }
  return {
    status: RunStatus.TIMEOUT,
    errorMessage: "the run passed its deadline",
    cause: DEADLINE_PASSED,
    failureClass: FailureClass.TIMEOUT,
  };
}
