// EventService.Watch: many runs over one connection. Every message is about one run and has the position in every run, so a caller that
// continues with it misses nothing and repeats nothing.

import { timingSafeEqual } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { LIMITS } from "@pawl/core/data/limits";
import { invalidField } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { cursorOf, cursorOfText, runIdOf } from "@pawl/platform/wire/fields";
import {
  type WatchRequest,
  type WatchResponse,
  WatchResponseSchema,
} from "@pawl/proto/pawl/v1/event_service_pb";
import type { Seal } from "../read/seal.ts";
import { abandonKey } from "../request/exchange.ts";
import { viewOf } from "../request/view-fields.ts";
import { withCursor } from "../watch/cursor-errors.ts";
import { type Form, formsOf, isLogged, isViewed, type ViewDeps } from "../watch/view.ts";
import { type ManyNews, watchMany } from "../watch/watch-many.ts";
import { WATCH_DEFAULTS } from "../watch/watch-run.ts";
import { throwIfLate } from "./event-messages.ts";
import { itemMessages } from "./item-messages.ts";

/** A run and the position in it. */
interface Place {
  readonly runId: RunId;
  lastEventId: number;
}

/** The seal of a cursor: only a gateway of this deployment can make one, and it holds for the same runs only. */
const PREFIX_LENGTH = 22;

/** @throws INPUT_INVALID, STREAM_LIMIT, DRAINING, STORE_UNAVAILABLE. Once the stream has begun, the metadata holds the `cursor`. */
export async function* watchRuns(
  deps: ViewDeps & { readonly seal: Pick<Seal, "of"> },
  request: WatchRequest,
  context: Pick<HandlerContext, "signal" | "values">,
): AsyncGenerator<WatchResponse, void, undefined> {
  const view = viewOf(request);
  const places = placesOf(request);
  const prefix = await prefixOf(deps.seal, places);
  moveTo(request.cursor, prefix, places);
  const left = new AbortController();
  const signal = AbortSignal.any([context.signal, left.signal]);
  const abandon = context.values.get(abandonKey);
  const sources = places.map(({ runId, lastEventId }) => {
    const asked = { runId, view, afterSeq: lastEventId, signal, abandon, share: places.length };
    return { stream: formsOf(deps, asked) };
  });
  let sentAt = Number.NEGATIVE_INFINITY;
  try {
    for await (const news of watchMany(sources)) {
      const isHeartbeat = news.batch.length === 0 && news.end === undefined;
      if (isHeartbeat && performance.now() - sentAt < WATCH_DEFAULTS.heartbeatMs) continue;
      sentAt = performance.now();
      yield messageOf(news, places, prefix);
    }
    throwIfLate(context.signal);
  } catch (error) {
    throw withCursor(error, cursorText(prefix, places));
  } finally {
    left.abort();
  }
}

function messageOf(
  { index, batch, end }: ManyNews<Form>,
  places: readonly Place[],
  prefix: string,
): WatchResponse {
  const place = places[index];
  if (place === undefined || (batch.length === 0 && end === undefined))
    return create(WatchResponseSchema, { cursor: cursorText(prefix, places) });
  const viewed = batch.filter(isViewed);
  const events = batch.filter(isLogged);
  METRICS.eventsDelivered.add(events.length, {});
  const last = events.at(-1) ?? viewed.at(-1)?.logged;
  place.lastEventId = last?.event.seq ?? place.lastEventId;
  return create(WatchResponseSchema, {
    runId: place.runId,
    events: events.map(({ wire }) => wire),
    items: itemMessages(viewed),
    done: end !== undefined,
    reason: end?.reason ?? "",
    cursor: cursorText(prefix, places),
  });
}

/** @throws INPUT_INVALID */
function placesOf({ runs }: WatchRequest): Place[] {
  if (runs.length === 0 || runs.length > LIMITS.watchedRuns)
    throw invalidField("runs", "OUT_OF_RANGE", `must be 1 to ${LIMITS.watchedRuns} runs`);
  const places = runs.map(({ runId, afterEventId }) => ({
    runId: runIdOf(runId),
    lastEventId: cursorOf("runs.after_event_id", afterEventId),
  }));
  if (new Set(places.map(({ runId }) => runId)).size < places.length)
    throw invalidField("runs", "REPEATED", "names a run more than once");
  return places;
}

/** The part of a cursor that names its runs, in their order. */
async function prefixOf(seal: Pick<Seal, "of">, places: readonly Place[]): Promise<string> {
  const runs = places.map(({ runId }) => runId).join();
  return (await seal.of(Buffer.from(`watch cursor\n${runs}`))).toString("base64url");
}

/** Moves to the positions of a cursor. @throws INPUT_INVALID for a cursor that no gateway of this deployment made for these runs */
function moveTo(cursor: string, prefix: string, places: readonly Place[]): void {
  if (cursor === "") return;
  const [sealed = "", ...positions] = cursor.split(".");
  const isOwn =
    sealed.length === PREFIX_LENGTH && timingSafeEqual(Buffer.from(sealed), Buffer.from(prefix));
  if (!isOwn || positions.length !== places.length)
    throw invalidField("cursor", "BAD_CURSOR", "is not a cursor of these runs in this order");
  places.forEach((place, index) => {
    place.lastEventId = cursorOfText("cursor", positions[index] ?? "");
  });
}

/** The position in each run, in the order of the request. */
const cursorText = (prefix: string, places: readonly Place[]): string =>
  [prefix, ...places.map(({ lastEventId }) => lastEventId)].join(".");
