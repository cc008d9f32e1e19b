// EventService.Watch: many runs over one connection. Every message is about one run and has the position in every run, so a caller that
// continues with it misses nothing and repeats nothing.

import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { cursorOf, cursorOfText, runIdOf } from "@pawl/platform/wire/fields";
import {
  type WatchRequest,
  type WatchResponse,
  WatchResponseSchema,
} from "@pawl/proto/pawl/v1/event_service_pb";
import { abandonKey } from "../request/exchange.ts";
import { type View, viewOf } from "../request/view-fields.ts";
import { LoggedEvent } from "../watch/logged-event.ts";
import { type ViewDeps, type ViewedEvent, watchEvents, watchItems } from "../watch/view.ts";
import { type ManyNews, watchMany } from "../watch/watch-many.ts";
import { WATCH_DEFAULTS } from "../watch/watch-run.ts";
import { throwIfLate } from "./event-messages.ts";
import { itemMessages } from "./item-messages.ts";

/** A run and the position in it. */
interface Place {
  readonly runId: RunId;
  lastEventId: number;
}

/** @throws INPUT_INVALID, STREAM_LIMIT, DRAINING, STORE_UNAVAILABLE. Once the stream has begun, the metadata holds the `cursor`. */
export async function* watchRuns(
  deps: ViewDeps,
  request: WatchRequest,
  context: Pick<HandlerContext, "signal" | "values">,
): AsyncGenerator<WatchResponse, void, undefined> {
  const view = viewOf(request);
  const places = placesOf(request);
  const left = new AbortController();
  const signal = AbortSignal.any([context.signal, left.signal]);
  const abandon = context.values.get(abandonKey);
  const sources = places.map(({ runId, lastEventId }) => {
    const asked = { runId, view, afterSeq: lastEventId, signal, abandon, share: places.length };
    return { stream: formsOf(deps, view, asked) };
  });
  let sentAt = Number.NEGATIVE_INFINITY;
  try {
    for await (const news of watchMany(sources)) {
      const isHeartbeat = news.batch.length === 0 && news.end === undefined;
      if (isHeartbeat && performance.now() - sentAt < WATCH_DEFAULTS.heartbeatMs) continue;
      sentAt = performance.now();
      yield messageOf(news, places);
    }
    throwIfLate(context.signal);
  } catch (error) {
    throw withCursor(error, places);
  } finally {
    left.abort();
  }
}

type Form = LoggedEvent | ViewedEvent;

function formsOf(
  deps: ViewDeps,
  view: View,
  asked: Parameters<typeof watchEvents>[1],
): AsyncGenerator<readonly Form[], void, undefined> {
  return view.modes.size === 0 ? watchEvents(deps, asked) : watchItems(deps, asked);
}

const isViewed = (form: Form): form is ViewedEvent => !(form instanceof LoggedEvent);

function messageOf({ index, batch, end }: ManyNews<Form>, places: readonly Place[]): WatchResponse {
  const place = places[index];
  if (place === undefined || (batch.length === 0 && end === undefined))
    return create(WatchResponseSchema, { cursor: cursorText(places) });
  const viewed = batch.filter(isViewed);
  const events = batch.filter((form) => form instanceof LoggedEvent);
  METRICS.eventsDelivered.add(events.length, {});
  const last = events.at(-1) ?? viewed.at(-1)?.logged;
  place.lastEventId = last?.event.seq ?? place.lastEventId;
  return create(WatchResponseSchema, {
    runId: place.runId,
    events: events.map(({ wire }) => wire),
    items: itemMessages(viewed),
    done: end !== undefined,
    reason: end?.reason ?? "",
    cursor: cursorText(places),
  });
}

/** @throws INPUT_INVALID */
function placesOf({ runs, cursor }: WatchRequest): Place[] {
  if (runs.length === 0 || runs.length > LIMITS.watchedRuns)
    throw invalidField("runs", "OUT_OF_RANGE", `must be 1 to ${LIMITS.watchedRuns} runs`);
  const places = runs.map(({ runId, afterEventId }) => ({
    runId: runIdOf(runId),
    lastEventId: cursorOf("runs.after_event_id", afterEventId),
  }));
  if (new Set(places.map(({ runId }) => runId)).size < places.length)
    throw invalidField("runs", "REPEATED", "names a run more than once");
  if (cursor === "") return places;
  const positions = cursor.split(".");
  if (positions.length !== places.length)
    throw invalidField("cursor", "BAD_CURSOR", "is of a stream with another number of runs");
  return places.map(({ runId }, index) => ({
    runId,
    lastEventId: cursorOfText("cursor", positions[index] ?? ""),
  }));
}

/** The position in each run, in the order of the request. */
const cursorText = (places: readonly Place[]): string =>
  places.map(({ lastEventId }) => lastEventId).join(".");

/** The error of a stream that ends early names the position in every run. */
function withCursor(error: unknown, places: readonly Place[]): unknown {
  if (!(error instanceof EngineError)) return error;
  return new EngineError(error.reason, error.message, {
    metadata: { ...error.metadata, cursor: cursorText(places) },
    violations: error.violations,
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    cause: error,
  });
}
