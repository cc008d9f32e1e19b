// The commands about queues, dead letters and the workflow queue, as the scheduler serves them to gateways.

import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { Queryable } from "@pawl/platform/db/query";
import { serve, type ServedService } from "@pawl/platform/rpc/implementation";
import { parseDiscard, parseRedrive } from "@pawl/platform/wire/dead-letter";
import { toWirePause } from "@pawl/platform/wire/pause";
import { parseCommandChange, parseEnqueue } from "@pawl/platform/wire/queued-command";
import { parsePauseQueue } from "@pawl/platform/wire/requests";
import { QueueService } from "@pawl/proto/pawl/v1/queue_service_pb";
import { pauseQueue, type PauseParts, resumeQueue } from "./pause.ts";
import {
  cancelCommand,
  discardCommand,
  enqueueCommand,
  type QueuedCommandParts,
  redriveCommand,
} from "./queued-commands.ts";
import { discard, redrive, type RedriveParts } from "./redrive.ts";

const TENANT = DEFAULT_TENANT;

export type QueueCommandParts = QueuedCommandParts & RedriveParts & PauseParts;

export const queueCommands = (parts: QueueCommandParts, db: Queryable): ServedService =>
  serve(QueueService, {
    enqueueCommand: (request) => enqueueCommand(parts, db, TENANT, parseEnqueue(request)),
    cancelCommand: (request) => cancelCommand(parts, db, TENANT, parseCommandChange(request)),
    redriveCommand: (request) => redriveCommand(parts, db, TENANT, parseCommandChange(request)),
    discardCommand: (request) => discardCommand(parts, db, TENANT, parseCommandChange(request)),
    redriveDeadLetters: (request) => redrive(parts, TENANT, parseRedrive(request)),
    discardDeadLetters: async (request) => ({
      deadLetterIds: await discard(parts, TENANT, parseDiscard(request)),
    }),
    pauseQueue: async (request) => ({
      pause: toWirePause(await pauseQueue(parts, TENANT, parsePauseQueue(request))),
    }),
    resumeQueue: async (request) => {
      await resumeQueue(parts, TENANT, parsePauseQueue(request));
      return {};
    },
  });
