// The commands about threads, as the scheduler serves them to gateways.

import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { serve, type ServedService } from "@pawl/platform/rpc/implementation";
import {
  parseCreateThread,
  parseDeleteThread,
  parseFork,
  parseUpdateThread,
  toWireThread,
} from "@pawl/platform/wire/thread";
import { ThreadService } from "@pawl/proto/pawl/v1/thread_service_pb";
import {
  createThread,
  deleteThread,
  forkThread,
  type ThreadCommandParts,
  updateThread,
} from "./threads.ts";

const TENANT = DEFAULT_TENANT;

export const threadCommands = (parts: ThreadCommandParts): ServedService =>
  serve(ThreadService, {
    createThread: async (request) => ({
      thread: toWireThread(await createThread(parts, TENANT, parseCreateThread(request))),
    }),
    updateThread: async (request) => ({
      thread: toWireThread(await updateThread(parts, TENANT, parseUpdateThread(request))),
    }),
    deleteThread: async (request) => {
      await deleteThread(parts, TENANT, parseDeleteThread(request));
      return {};
    },
    forkThread: async (request) => ({
      thread: toWireThread(await forkThread(parts, TENANT, parseFork(request))),
    }),
  });
