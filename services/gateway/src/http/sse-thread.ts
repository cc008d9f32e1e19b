// GET /execute/threads/:threadId/events: the events of WatchThread as Server-Sent Events, with the cursor of the thread as `id:`.

import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { nameOf } from "@pawl/platform/wire/fields";
import type { EdgeRequest } from "../request/exchange.ts";
import { viewOfQuery } from "../request/view-fields.ts";
import type { ThreadCursors } from "../watch/thread-cursors.ts";
import type { ThreadWatchRequest, WatchThread } from "../watch/watch-thread.ts";
import { framesOf, type FrameStream } from "./sse-frames.ts";
import { cursorIn, flagOf, listOf } from "./sse-query.ts";

export interface ThreadFrameDeps {
  readonly watchThread: WatchThread;
  readonly cursors: Pick<ThreadCursors, "open">;
}

export function threadFrames(
  { watchThread, cursors }: ThreadFrameDeps,
  request: EdgeRequest,
  id: string,
  caller: Pick<ThreadWatchRequest, "signal" | "abandon">,
): FrameStream {
  const cursor = cursorIn(request, "cursor");
  const asked = {
    ...caller,
    key: { tenantId: DEFAULT_TENANT, threadId: nameOf("thread_id", id) },
    cursor: cursor && cursors.open(cursor.field, cursor.text),
    view: viewOfQuery((name) => listOf(request, name)),
    untilIdle: flagOf(request, "untilIdle"),
    skipFinished: flagOf(request, "skipFinished"),
  };
  return framesIn(watchThread(asked));
}

async function* framesIn(stream: ReturnType<WatchThread>): FrameStream {
  for await (const { batch, mark } of stream)
    yield framesOf(batch, ({ event }) => `${mark}.${event.seq}`);
}
