// ExecuteRun: a run and its events by one call. A caller saves one round trip over StartRun and WatchRun. A caller that wants only the
// end costs the gateway no read, or one read where the terminal event is too long to be announced. A short run may be over before the
// scheduler's answer arrives: the gateway then sends the run and its end in one message.

import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import type { RunEvent } from "@pawl/core/log/event";
import { type RunId, runId as toRunId } from "@pawl/core/name/ids";
import { probe } from "@pawl/platform/lifecycle/probe";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { toWireEvent } from "@pawl/platform/wire/event";
import {
  type ExecuteRunRequest,
  type ExecuteRunResponse,
  ExecuteRunResponseSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { abandonKey } from "../request/exchange.ts";
import type { HintMark } from "../watch/endings.ts";
import { knownRun } from "../watch/known-run.ts";
import { type WatchRequest, type WatchStream } from "../watch/watch-run.ts";
import { eventMessages } from "./event-messages.ts";
import type { Scheduler } from "../request/forward.ts";
import { inField } from "./in-field.ts";
import { checkTypes } from "../request/ingress.ts";
import { startRun } from "./start-run.ts";

export interface ExecuteRunDeps {
  readonly scheduler: Pick<Scheduler, "runs">;
  readonly watch: (request: WatchRequest) => WatchStream;
  /** See Fanout. */
  readonly markHints: () => HintMark;
  /** See Fanout. */
  readonly endSince: (runId: RunId, since: HintMark) => RunEvent | undefined;
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
  const started = await inField("start", () => startRun(deps.scheduler, start, context));
  const { run, duplicate } = started;
  if (run === undefined) throw new EngineError("INTERNAL", "No run was named as started.");
  const { signal } = context;
  const runId = toRunId(run.runId);
  const known = knownRun(started, types, since);
  const end = deps.endSince(runId, since);
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
