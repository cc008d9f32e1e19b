// QueueService at the gateway. It reads depths, dead letters and pauses from the store. It checks redrives, discards and pauses and
// forwards them.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type {
  DeadLetterFilter,
  OpenDeadLetter,
} from "@pawl/platform/store/dead-letters/dead-letters";
import { whyLeft } from "@pawl/platform/store/dead-letters/dead-letters";
import { listDeadLetters, openDeadLetters } from "@pawl/platform/store/dead-letters/reads";
import type { PauseBook } from "@pawl/platform/store/pauses/pauses";
import { readPauses } from "@pawl/platform/store/pauses/reads";
import { readNewestStats, readStatPoints } from "@pawl/platform/store/stats/reads";
import { readDepths } from "@pawl/platform/store/survey/reads";
import type { Depths, TypeOf } from "@pawl/platform/store/survey/reads";
import {
  deadLetterLimit,
  fromWireDeadLetterState,
  fromWireFilter,
  parseDiscard,
  parseRedrive,
  toWireDeadLetter,
} from "@pawl/platform/wire/dead-letter";
import { parseStatsQuestion, toWireQueueStats } from "@pawl/platform/wire/stats";
import { toWirePause } from "@pawl/platform/wire/pause";
import { countCommands } from "@pawl/platform/queue/command-reads";
import { valuesOf } from "@pawl/platform/wire/fields";
import { parsePauseQueue } from "@pawl/platform/wire/requests";
import {
  GetQueueDepthResponseSchema,
  GetQueueStatsResponseSchema,
  ListDeadLettersResponseSchema,
  ListPausesResponseSchema,
  PreviewRedriveResponseSchema,
  type QueueService,
} from "@pawl/proto/pawl/v1/queue_service_pb";
import { forwarded } from "../request/forward.ts";
import { queuedCommands } from "./queued-commands.ts";
import type { ServiceParts } from "./service-parts.ts";

/** How many ids a preview shows. */
const SHOWN = 20;

export const createQueueService = (parts: ServiceParts): ServiceImpl<typeof QueueService> => {
  const { pool, pages, definitions, scheduler } = parts;
  const { queues } = scheduler;
  const typeOf: TypeOf = async (...execution) =>
    (await definitions.executionOf(...execution))?.type;
  return {
    getQueueDepth: async () => {
      const [{ types, paused }, { pauses }, commands] = await Promise.all([
        readDepths(pool, DEFAULT_TENANT, typeOf),
        readPauses(pool),
        countCommands(pool),
      ]);
      const sum = (key: "waiting" | "active" | "deadLetter"): number =>
        types.reduce((total, type) => total + type[key], 0);
      const total = {
        waiting: sum("waiting"),
        active: sum("active"),
        paused,
        deadLetter: sum("deadLetter"),
      };
      const queued = withHeld(types, pauses);
      const { dead_letter: deadLetter, ...others } = commands;
      return create(GetQueueDepthResponseSchema, {
        ...{ total, queues: queued },
        commands: { ...others, deadLetter },
      });
    },
    listDeadLetters: async (request) => {
      const states = valuesOf("states", "a state", request.states, fromWireDeadLetterState);
      const filter = { ...fromWireFilter(request.filter), states };
      const { rows, nextPageToken } = await pages.page(request, (page) =>
        listDeadLetters(pool, DEFAULT_TENANT, filter, page),
      );
      const wire = rows.map(toWireDeadLetter);
      return create(ListDeadLettersResponseSchema, { deadLetters: wire, nextPageToken });
    },
    previewRedrive: async (request) => {
      const filter = fromWireFilter(request.filter);
      const limit = deadLetterLimit(request.limit);
      const letters = await openDeadLetters(pool, DEFAULT_TENANT, filter, limit);
      return create(PreviewRedriveResponseSchema, preview(letters, filter));
    },
    redriveDeadLetters: forwarded(queues.redriveDeadLetters, parseRedrive),
    discardDeadLetters: forwarded(queues.discardDeadLetters, parseDiscard),
    pauseQueue: forwarded(queues.pauseQueue, parsePauseQueue),
    resumeQueue: forwarded(queues.resumeQueue, parsePauseQueue),
    getQueueStats: async (request) => {
      const question = parseStatsQuestion(request);
      const [newest, points] = await Promise.all([
        readNewestStats(pool),
        readStatPoints(pool, question),
      ]);
      return create(GetQueueStatsResponseSchema, toWireQueueStats(question, newest, points));
    },
    ...queuedCommands(parts),
    listPauses: async () => {
      const { pauses } = await readPauses(pool);
      return create(ListPausesResponseSchema, { pauses: pauses.map(toWirePause) });
    },
  };
};

/** The queues with work, and the paused queues without any. */
function withHeld(types: Depths["types"], pauses: PauseBook["pauses"]) {
  const held = new Set(pauses.flatMap(({ scope, name }) => (scope === "queue" ? [name] : [])));
  const counted = types.map((type) => ({ ...type, held: held.delete(type.nodeType) }));
  const empty = [...held].map((nodeType) => ({ nodeType, held: true }));
  return [...counted, ...empty].toSorted((a, b) => (a.nodeType < b.nodeType ? -1 : 1));
}

function preview(letters: readonly OpenDeadLetter[], { ids }: DeadLetterFilter) {
  const { moved = [], ...left } = Object.groupBy(letters, (letter) => whyLeft(letter) ?? "moved");
  const found = new Set(letters.map((letter) => letter.deadLetterId));
  const missing = ids.filter((id) => !found.has(id)).length;
  const counts = Object.entries(left).map(([reason, list]) => ({ reason, count: list.length }));
  return {
    redriven: moved.length,
    runs: new Set(moved.map((letter) => letter.runId)).size,
    left: missing > 0 ? [...counts, { reason: "not_open", count: missing }] : counts,
    firstIds: moved.slice(0, SHOWN).map((letter) => letter.deadLetterId),
  };
}
