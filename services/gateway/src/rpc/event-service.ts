// EventService at the gateway: pages of a log, and the stream that never loses or repeats an event.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { LIMITS } from "@pawl/core/data/limits";
import { Batch } from "@pawl/platform/rpc/batch";
import { wireBytes } from "@pawl/platform/rpc/wire-bytes";
import { readEvents, readTags } from "@pawl/platform/store/log/reads";
import { toWireEvent } from "@pawl/platform/wire/event";
import { cursorOf, optionalName, pageSizeOf, runIdOf } from "@pawl/platform/wire/fields";
import { toWireTag } from "@pawl/platform/wire/tag";
import type { RunEvent as WireEvent } from "@pawl/proto/pawl/v1/event_pb";
import {
  type EventService,
  type ListEventsRequest,
  ListEventsResponseSchema,
  type ListTagsRequest,
  ListTagsResponseSchema,
  WatchRunResponseSchema,
} from "@pawl/proto/pawl/v1/event_service_pb";
import { abandonKey } from "../request/exchange.ts";
import { checkWithin } from "../watch/cursor-errors.ts";
import { watchEvents, watchItems } from "../watch/view.ts";
import { viewOf } from "../request/view-fields.ts";
import { eventMessages } from "./event-messages.ts";
import { itemResponses } from "./item-messages.ts";
import type { ServiceParts } from "./service-parts.ts";
import { watchRuns } from "./watch-runs.ts";
import { threadResponses } from "./watch-thread.ts";

const PAGE = { default: LIMITS.eventPageSize, max: LIMITS.eventPageSizeMax } as const;

export const createEventService = ({
  pool,
  reader,
  watch,
  watchThread,
  cursors,
  seal,
}: ServiceParts): ServiceImpl<typeof EventService> => {
  const deps = { watch, reader, seal };
  /** A page of a log that exists, from a cursor inside it. */
  const pageOf = async (request: ListEventsRequest | ListTagsRequest) => {
    const runId = runIdOf(request.runId);
    const limit = pageSizeOf(request.pageSize, PAGE);
    const afterSeq = cursorOf("after_event_id", request.afterEventId);
    const { lastSeq, scope } = await reader.findRun(runId);
    checkWithin(afterSeq, lastSeq);
    return { runId, limit, afterSeq, lastSeq, scope };
  };
  return {
    watchRun: (request, { signal, values }) => {
      const runId = runIdOf(request.runId);
      const view = viewOf(request);
      const asked = {
        runId,
        view,
        afterSeq: cursorOf("after_event_id", request.afterEventId),
        signal,
        abandon: values.get(abandonKey),
      };
      const toMessage = (events: WireEvent[]) => create(WatchRunResponseSchema, { events });
      if (view.modes.size === 0)
        return eventMessages(watchEvents(deps, asked), { runId, signal, toMessage });
      return itemResponses(watchItems(deps, asked), { runId, signal });
    },
    watch: (request, context) => watchRuns(deps, request, context),
    watchThread: (request, context) => threadResponses({ watchThread, cursors }, request, context),
    listTags: async (request) => {
      const { nodeId } = request;
      optionalName("node_id", nodeId);
      const { runId, afterSeq, limit } = await pageOf(request);
      const { tags, hasMore } = await readTags(pool, runId, { afterSeq, limit, nodeId });
      return create(ListTagsResponseSchema, { tags: tags.map(toWireTag), hasMore });
    },
    listEvents: async (request) => {
      const { runId, afterSeq, limit, lastSeq, scope } = await pageOf(request);
      const page = await readEvents(pool, runId, afterSeq, limit);
      // Stream deltas may be larger than a message, so a page ends before that.
      const fitting = new Batch<WireEvent>(LIMITS.itemBytes);
      for (const event of page.events) {
        const wire = toWireEvent(event, scope);
        if (!fitting.add(wire, wireBytes(wire))) break;
      }
      const { items: events } = fitting;
      const last = Number(events.at(-1)?.eventId ?? afterSeq);
      const hasMore = page.hasMore || events.length < page.events.length || last < lastSeq;
      return create(ListEventsResponseSchema, { events, hasMore });
    },
  };
};
