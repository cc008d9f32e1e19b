// EventService.WatchThread: the runs of a thread as one stream. Every message is about one run and has the position after it.

import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { nameOf } from "@pawl/platform/wire/fields";
import {
  type WatchThreadRequest,
  type WatchThreadResponse,
  WatchThreadResponseSchema,
} from "@pawl/proto/pawl/v1/event_service_pb";
import { abandonKey } from "../request/exchange.ts";
import { viewOf } from "../request/view-fields.ts";
import { isLogged, isViewed } from "../watch/view.ts";
import type { ThreadCursors } from "../watch/thread-cursors.ts";
import type { ThreadBatch, WatchThread } from "../watch/watch-thread.ts";
import { throwIfLate } from "./event-messages.ts";
import { itemMessages } from "./item-messages.ts";

interface WatchThreadParts {
  readonly watchThread: WatchThread;
  readonly cursors: Pick<ThreadCursors, "open">;
}

/** @throws INPUT_INVALID and the errors of watchThread. Once the stream has begun, the metadata holds the `cursor`. */
export async function* threadResponses(
  { watchThread, cursors }: WatchThreadParts,
  request: WatchThreadRequest,
  { signal, values }: Pick<HandlerContext, "signal" | "values">,
): AsyncGenerator<WatchThreadResponse, void, undefined> {
  const { threadId, cursor, untilIdle, skipFinished } = request;
  const asked = {
    key: { tenantId: DEFAULT_TENANT, threadId: nameOf("thread_id", threadId) },
    cursor: cursors.open("cursor", cursor),
    view: viewOf(request),
    abandon: values.get(abandonKey),
  };
  for await (const news of watchThread({ ...asked, untilIdle, skipFinished, signal }))
    yield messageOf(news);
  throwIfLate(signal);
}

function messageOf({ runId, batch, cursor }: ThreadBatch): WatchThreadResponse {
  if (runId === undefined) return create(WatchThreadResponseSchema, { cursor });
  const items = itemMessages(batch.filter(isViewed));
  const events = batch.filter(isLogged).map(({ wire }) => wire);
  METRICS.eventsDelivered.add(events.length, {});
  return create(WatchThreadResponseSchema, { runId, events, items, cursor });
}
