// ExecuteRun: a run and its events by one call. It costs a caller one round trip less than StartRun and WatchRun, and where only
// the end is waited for it costs the gateway no read at all, or one of the terminal event where that is long. A short run may be over
// by the time its acceptance is here: then the two go in one message. One that is over in the commit that accepted it is announced with
// its call, and its caller has both before the scheduler's answer is here (ADR 36).

import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import type { RunEvent } from "@pawl/core/log/event";
import { type RunId, runId as toRunId } from "@pawl/core/name/ids";
import { probe } from "@pawl/platform/lifecycle/probe";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { currentTraceparent } from "@pawl/platform/telemetry/trace";
import { withCallId } from "@pawl/platform/wake/call-id";
import { toWireEvent } from "@pawl/platform/wire/event";
import { toWireAcceptedRun } from "@pawl/platform/wire/run";
import {
  type ExecuteRunRequest,
  type ExecuteRunResponse,
  ExecuteRunResponseSchema,
  type StartRunRequest,
  type StartRunResponse,
  StartRunResponseSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { abandonKey } from "../http/exchange.ts";
import type { HintMark } from "../watch/endings.ts";
import { knownRun } from "../watch/known-run.ts";
import type { OpenCall, OverAtOnce } from "../watch/open-calls.ts";
import { type WatchRequest, type WatchStream, wantsEndOnly } from "../watch/watch-run.ts";
import { eventMessages } from "./event-messages.ts";
import type { Scheduler } from "./forward.ts";
import { inField } from "./in-field.ts";
import { checkTypes } from "./ingress.ts";
import { startRun } from "./start-run.ts";

export interface ExecuteRunDeps {
  readonly scheduler: Pick<Scheduler, "runs">;
  readonly watch: (request: WatchRequest) => WatchStream;
  /** See Fanout. */
  readonly markHints: () => HintMark;
  /** See Fanout. */
  readonly endSince: (runId: RunId, since: HintMark) => RunEvent | undefined;
  /** See OpenCalls. */
  readonly openCall: () => OpenCall;
  readonly now: () => number;
}

type Context = Pick<HandlerContext, "signal" | "timeoutMs" | "values">;

/**
 * The run as accepted, then its events from the first one on, to the terminal one; both at once where only that is wanted and there.
 * @throws what StartRun throws, by the path of the field, before the first message; then what watchRun throws
 */
export async function* executeRun(
  deps: ExecuteRunDeps,
  { start, types: asked }: ExecuteRunRequest,
  context: Context,
): AsyncGenerator<ExecuteRunResponse, void, undefined> {
  const types = checkTypes(asked);
  if (start === undefined) throw invalidField("start", "REQUIRED", "is missing");
  const since = deps.markHints();
  const { started, event: announced } = wantsEndOnly(types)
    ? await startOrEnd(deps, start, context)
    : { started: await inField("start", () => startRun(deps.scheduler, start, context)) };
  const { run, duplicate } = started;
  if (run === undefined) throw new EngineError("INTERNAL", "No run was named as started.");
  const { signal } = context;
  const runId = toRunId(run.runId);
  const known = knownRun(started, types, since);
  const end = announced ?? deps.endSince(runId, since);
  if (known !== undefined && end !== undefined) {
    METRICS.eventsDelivered.add(1, {});
    const events = [toWireEvent(end, known.scope)];
    yield create(ExecuteRunResponseSchema, { run, duplicate, events });
    probe("watch.after-batch");
    probe("watch.before-end");
    return;
  }
  yield create(ExecuteRunResponseSchema, { run, duplicate });
  const watching = deps.watch({
    runId,
    afterSeq: 0,
    types,
    signal,
    abandon: context.values.get(abandonKey),
    ...(known && { known }),
  });
  const toMessage = (events: ExecuteRunResponse["events"]): ExecuteRunResponse =>
    create(ExecuteRunResponseSchema, { events });
  yield* eventMessages(watching, { runId, now: deps.now, signal, toMessage });
}

interface Begun {
  readonly started: StartRunResponse;
  /** How it ended, where that is known already. */
  readonly event?: RunEvent;
}

/** Starts a run; settles with the scheduler's answer, or with the run's end if that is announced before. @throws what startRun throws */
async function startOrEnd(
  deps: Pick<ExecuteRunDeps, "scheduler" | "openCall">,
  request: StartRunRequest,
  { signal, timeoutMs }: Context,
): Promise<Begun> {
  const call = deps.openCall();
  // The command is answered after all, also when its caller has got everything and is gone: that is no failure to be traced.
  const asking = new AbortController();
  const giveUp = (): void => asking.abort(signal.reason);
  signal.addEventListener("abort", giveUp, { once: true });
  if (signal.aborted) giveUp();
  const context = { signal: asking.signal, timeoutMs };
  const asked = inField("start", () =>
    startRun(deps.scheduler, request, context, withCallId(call.callId)),
  );
  try {
    return await Promise.race([
      asked.then((started) => ({ started })),
      call.overAtOnce.then((over) => begunOf(request, over)),
    ]);
  } finally {
    call.close();
    signal.removeEventListener("abort", giveUp);
  }
}

/** What the scheduler will have answered, or would have, had it not died. */
function begunOf(
  { workflowId, priority }: StartRunRequest,
  { event, accepted }: OverAtOnce,
): Begun {
  const { runId, seq: lastSeq, at: createdAt } = event;
  const { workflowVersion, deadlineAt } = accepted;
  const run = toWireAcceptedRun({
    ...{ runId, workflowId, workflowVersion, priority, lastSeq, createdAt, deadlineAt },
    kind: "saved",
    status: "running",
    traceparent: currentTraceparent(),
  });
  return { started: create(StartRunResponseSchema, { run, duplicate: false }), event };
}
