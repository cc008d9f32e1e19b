// StartRun and ExecuteRun. ExecuteRun starts a run and streams its events in one call, so the caller saves a round trip. For a caller that
// wants only the end, the gateway reads nothing. It reads once if the terminal event is too long for its notification. Race: a short run
// ends before the scheduler's answer arrives. The gateway then sends the run and its end in one message.

import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { runId as toRunId } from "@pawl/core/name/ids";
import { probe } from "@pawl/platform/lifecycle/probe";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { toWireEvent } from "@pawl/platform/wire/event";
import { typesOf } from "@pawl/platform/wire/fields";
import { parseStart } from "@pawl/platform/wire/requests";
import {
  type ExecuteRunRequest,
  type ExecuteRunResponse,
  ExecuteRunResponseSchema,
  type StartRunRequest,
  type StartRunResponse,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { abandonKey } from "../request/exchange.ts";
import { type CallLimits, forwarded, type Scheduler, sendAsJson } from "../request/forward.ts";
import type { Fanout } from "../watch/fanout.ts";
import { knownRun } from "../watch/end-only.ts";
import type { Watch } from "../watch/watch-run.ts";
import { eventMessages } from "./event-messages.ts";
import { inField } from "@pawl/platform/wire/in-field";

export interface ExecuteRunParts {
  readonly scheduler: Pick<Scheduler, "runs">;
  readonly watch: Watch;
  readonly fanout: Pick<Fanout, "markNotifications" | "endSince">;
}

/** @throws INPUT_INVALID, LIMIT_EXCEEDED, SCHEDULER_UNAVAILABLE, and every refusal of the scheduler */
export async function startRun(
  { runs }: Pick<Scheduler, "runs">,
  request: StartRunRequest,
  context: CallLimits,
): Promise<StartRunResponse> {
  const start = forwarded<StartRunRequest, StartRunResponse>(runs.startRun, (asked) => {
    sendAsJson(asked, parseStart(asked).input);
    probe("start.before-forward");
  });
  const started = await start(request, context);
  probe("start.after-forward");
  return started;
}

/**
 * The run as accepted, then its events from the first to the terminal one. One message has both if the caller wants only the end and the
 * run has ended already.
 * @throws the errors of StartRun, with the path of the field, before the first message; then those of watchRun
 */
export async function* executeRun(
  { scheduler, watch, fanout }: ExecuteRunParts,
  { start, types: asked }: ExecuteRunRequest,
  context: CallLimits & Pick<HandlerContext, "values">,
): AsyncGenerator<ExecuteRunResponse, void, undefined> {
  const types = typesOf(asked);
  if (start === undefined) throw invalidField("start", "REQUIRED", "is missing");
  const since = fanout.markNotifications();
  const started = await inField("start", () => startRun(scheduler, start, context));
  const { run, duplicate } = started;
  if (run === undefined) throw new EngineError("INTERNAL", "The scheduler's answer names no run.");
  const { signal } = context;
  const runId = toRunId(run.runId);
  const known = knownRun(started, types, since);
  const end = fanout.endSince(runId, since);
  if (known !== undefined && end !== undefined) {
    METRICS.eventsDelivered.add(1, {});
    const events = [toWireEvent(end, known.scope)];
    yield create(ExecuteRunResponseSchema, { run, duplicate, events });
    probe("watch.after-batch");
    probe("watch.before-end");
    return;
  }
  yield create(ExecuteRunResponseSchema, { run, duplicate });
  const abandon = context.values.get(abandonKey);
  const watching = watch({ runId, afterSeq: 0, types, signal, abandon, ...(known && { known }) });
  const toMessage = (events: ExecuteRunResponse["events"]): ExecuteRunResponse =>
    create(ExecuteRunResponseSchema, { events });
  yield* eventMessages(watching, { runId, signal, toMessage });
}
