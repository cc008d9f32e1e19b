// EventService at the edge: pages of a log, and the stream that never loses or repeats an event.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import { Batch } from "@pawl/platform/rpc/batch";
import { wireBytes } from "@pawl/platform/rpc/wire-bytes";
import type { EventPage } from "@pawl/platform/store/log/log";
import type { readTags } from "@pawl/platform/store/log/reads";
import type { TagPage } from "@pawl/platform/store/log/log";
import { toWireTag } from "@pawl/platform/wire/tag";
import { toWireEvent } from "@pawl/platform/wire/event";
import {
  type EventService,
  ListEventsResponseSchema,
  ListTagsResponseSchema,
  type WatchRunResponse,
  WatchRunResponseSchema,
} from "@pawl/proto/pawl/v1/event_service_pb";
import type { RunEvent as WireEvent } from "@pawl/proto/pawl/v1/event_pb";
import { abandonKey } from "../request/exchange.ts";
import type { WatchedRun, WatchRequest, WatchStream } from "../watch/watch-run.ts";
import { eventMessages } from "./event-messages.ts";
import {
  checkCursor,
  checkName,
  checkPageSize,
  checkRunId,
  checkTypes,
} from "../request/ingress.ts";

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

export const createEventService = (deps: EventServiceDeps): ServiceImpl<typeof EventService> => ({
  watchRun: ({ runId: text, afterEventId, types }, { signal, values }) => {
    const runId = checkRunId(text);
    const watching = deps.watch({
      runId,
      types: checkTypes(types),
      afterSeq: checkCursor("after_event_id", afterEventId),
      signal,
      abandon: values.get(abandonKey),
    });
    const toMessage = (events: WatchRunResponse["events"]): WatchRunResponse =>
      create(WatchRunResponseSchema, { events });
    return eventMessages(watching, { runId, now: deps.now, signal, toMessage });
  },
  listTags: async ({ runId: text, afterEventId, pageSize, nodeId }) => {
    const runId = checkRunId(text);
    if (nodeId !== "") checkName("node_id", nodeId);
    const limit = checkPageSize(pageSize, PAGE);
    const afterSeq = checkCursor("after_event_id", afterEventId);
    const { lastSeq } = await deps.findRun(runId);
    if (afterSeq > lastSeq) throw beyondTheLog(afterSeq, lastSeq);
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
    // Partial output may take more than a message: a page ends before that.
    const fitting = new Batch<WireEvent>(LIMITS.itemBytes);
    for (const event of page.events) {
      const wire = toWireEvent(event, run.scope);
      if (!fitting.add(wire, wireBytes(wire))) break;
    }
    const { items: events } = fitting;
    const last = Number(events.at(-1)?.eventId ?? afterSeq);
    return create(ListEventsResponseSchema, {
      events,
      hasMore: page.hasMore || events.length < page.events.length || last < run.lastSeq,
    });
  },
});

const beyondTheLog = (afterSeq: number, lastSeq: number): EngineError =>
  new EngineError("CURSOR_OUT_OF_RANGE", `The log ends at event ${lastSeq}.`, {
    metadata: { cursor: String(afterSeq), last_event_id: String(lastSeq) },
  });
