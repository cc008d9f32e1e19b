// ThreadService at the gateway: reads here, changes checked and forwarded.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { leftBy } from "@pawl/core/log/thread";
import { invalidField } from "@pawl/core/fault/engine-error";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { getThread, getThreadState, listThreads } from "@pawl/platform/store/threads/reads";
import type { ThreadRecord, ThreadState } from "@pawl/platform/store/threads/threads";
import { nameOf } from "@pawl/platform/wire/fields";
import {
  parseCreateThread,
  parseDeleteThread,
  parseFork,
  parseStateAt,
  parseThreadFilter,
  parseUpdateThread,
  type StateAt,
  threadNotFound,
  toWireThread,
  toWireThreadState,
} from "@pawl/platform/wire/thread";
import {
  GetThreadResponseSchema,
  GetThreadStateResponseSchema,
  ListThreadsResponseSchema,
  type ThreadService,
} from "@pawl/proto/pawl/v1/thread_service_pb";
import { forwarded } from "../request/forward.ts";
import { checkWithin } from "../watch/cursor-errors.ts";
import type { ServiceParts } from "./service-parts.ts";

export const createThreadService = (parts: ServiceParts): ServiceImpl<typeof ThreadService> => {
  const {
    pool,
    pages,
    scheduler: { threads },
  } = parts;
  const find = async (text: string): Promise<ThreadRecord> => {
    const threadId = nameOf("thread_id", text);
    const thread = await getThread(pool, { tenantId: DEFAULT_TENANT, threadId });
    if (thread === undefined) throw threadNotFound(threadId);
    return thread;
  };
  return {
    createThread: forwarded(threads.createThread, parseCreateThread),
    updateThread: forwarded(threads.updateThread, parseUpdateThread),
    deleteThread: forwarded(threads.deleteThread, parseDeleteThread),
    forkThread: forwarded(threads.forkThread, parseFork),
    getThread: async ({ threadId }) =>
      create(GetThreadResponseSchema, { thread: toWireThread(await find(threadId)) }),
    listThreads: async (request) => {
      const filter = parseThreadFilter(request);
      const page = await pages.page(request, (asked) =>
        listThreads(pool, DEFAULT_TENANT, filter, asked),
      );
      const { nextPageToken } = page;
      return create(ListThreadsResponseSchema, {
        threads: page.rows.map(toWireThread),
        nextPageToken,
      });
    },
    getThreadState: async (request) => {
      const { threadId, at } = parseStateAt(request);
      const key = { tenantId: DEFAULT_TENANT, threadId };
      const now = await getThreadState(pool, key);
      if (now === undefined) throw threadNotFound(threadId);
      const state = at === undefined ? now : await stateAfter(parts, threadId, at);
      return create(GetThreadStateResponseSchema, { state: toWireThreadState(state) });
    },
  };
};

/** What a run of a thread held after an event. @throws INPUT_INVALID, RUN_NOT_FOUND, CURSOR_OUT_OF_RANGE */
async function stateAfter(
  { reader }: ServiceParts,
  threadId: string,
  { runId, atSeq }: StateAt,
): Promise<ThreadState> {
  const { record, state } = await reader.foldRun(runId, atSeq === 0 ? undefined : atSeq);
  if (record.threadId !== threadId)
    throw invalidField("run_id", "OTHER_THREAD", `is no run of thread ${threadId}`);
  checkWithin(atSeq, record.lastSeq);
  return leftBy(state);
}
