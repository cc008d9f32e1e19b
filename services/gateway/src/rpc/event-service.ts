// EventService at the edge: pages of a log, and the stream that never loses or repeats an event.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { EventPage } from "@pawl/platform/store/log";
import type { readTags, TagPage } from "@pawl/platform/store/tags";
import { toWireTag } from "@pawl/platform/wire/tag";
import { toWireEvent, toWireHeartbeat } from "@pawl/platform/wire/event";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import {
  type EventService,
  ListEventsResponseSchema,
  ListTagsResponseSchema,
  type WatchRunResponse,
  WatchRunResponseSchema,
} from "@pawl/proto/pawl/v1/event_service_pb";
import { abandonKey } from "../http/exchange.ts";
import type { LoggedEvent } from "../watch/logged-event.ts";
import type { WatchedRun, WatchRequest, WatchStream } from "../watch/watch-run.ts";
import { checkCursor, checkName, checkPageSize, checkRunId } from "./ingress.ts";

export interface EventServiceDeps {
  readonly watch: (request: WatchRequest) => WatchStream;
  /** @throws RUN_NOT_FOUND, STORE_UNAVAILABLE */
  readonly findRun: (runId: RunId) => Promise<WatchedRun>;
  readonly readEvents: (runId: RunId, afterSeq: number, limit: number) => Promise<EventPage>;
  readonly readTags: (runId: RunId, page: TagPageRequest) => Promise<TagPage>;
  readonly now: () => number;
}

type TagPageRequest = Parameters<typeof readTags>[2];

const PAGE = { default: LIMITS.eventPageSize, max: LIMITS.eventPageSizeMax } as const;
/** More types than there are is a mistake. */
const TYPES_MAX = 64;
/** A message of a stream stays far below what clients take, and does not hold up the other streams of its connection. */
const MESSAGE_EVENTS = 256;
const MESSAGE_BYTES = 256 * 1024;

export const createEventService = (deps: EventServiceDeps): ServiceImpl<typeof EventService> => ({
  watchRun: async function* ({ runId: text, afterEventId, types }, context) {
    const runId = checkRunId(text);
    if (types.length > TYPES_MAX) throw invalidField("types", "TOO_MANY", "has too many types");
    const watching = deps.watch({
      runId,
      afterSeq: checkCursor("after_event_id", afterEventId),
      types: new Set(types),
      signal: context.signal,
      abandon: context.values.get(abandonKey),
    });
    for await (const batch of watching) {
      if (batch.length === 0) {
        yield create(WatchRunResponseSchema, { events: [toWireHeartbeat(runId, deps.now())] });
      } else {
        METRICS.eventsDelivered.add(batch.length, {});
        yield* toMessages(batch);
        probe("G3");
      }
    }
    probe("G5");
  },
  listTags: async ({ runId: text, afterEventId, pageSize, nodeId }) => {
    const runId = checkRunId(text);
    if (nodeId !== "") checkName("node_id", nodeId);
    const limit = checkPageSize(pageSize, PAGE);
    const afterSeq = checkCursor("after_event_id", afterEventId);
    await deps.findRun(runId);
    const { tags, hasMore } = await deps.readTags(runId, { afterSeq, limit, nodeId });
    return create(ListTagsResponseSchema, { tags: tags.map(toWireTag), hasMore });
  },
  listEvents: async ({ runId: text, afterEventId, pageSize }) => {
    const runId = checkRunId(text);
    const size = checkPageSize(pageSize, PAGE);
    const afterSeq = checkCursor("after_event_id", afterEventId);
    const run = await deps.findRun(runId);
    if (afterSeq > run.lastSeq) throw beyondTheLog(afterSeq, run.lastSeq);
    const page = await deps.readEvents(runId, afterSeq, size);
    const last = page.events.at(-1)?.seq ?? afterSeq;
    return create(ListEventsResponseSchema, {
      events: page.events.map((event) => toWireEvent(event, run.scope)),
      hasMore: page.hasMore || last < run.lastSeq,
    });
  },
});

/** Batches of a size that a connection shared by many streams can carry. */
function* toMessages(batch: readonly LoggedEvent[]): Generator<WatchRunResponse> {
  let from = 0;
  let bytes = 0;
  for (const [index, event] of batch.entries()) {
    const isFull = index - from >= MESSAGE_EVENTS || bytes + event.bytes > MESSAGE_BYTES;
    if (isFull && index > from) {
      yield message(batch.slice(from, index));
      from = index;
      bytes = 0;
    }
    bytes += event.bytes;
  }
  yield message(from === 0 ? batch : batch.slice(from));
}

const message = (events: readonly LoggedEvent[]): WatchRunResponse =>
  create(WatchRunResponseSchema, { events: events.map((event) => event.wire) });

const beyondTheLog = (afterSeq: number, lastSeq: number): EngineError =>
  new EngineError("CURSOR_OUT_OF_RANGE", `The log ends at event ${lastSeq}.`, {
    metadata: { cursor: String(afterSeq), lastEventId: String(lastSeq) },
  });
