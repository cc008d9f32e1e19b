// QueueService at the edge: depths, dead letters and pauses are read from the store; redrives, discards and pauses are checked and
// forwarded.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { LIMITS } from "@pawl/core/data/limits";
import { invalidField } from "@pawl/core/fault/engine-error";
import {
  type DeadLetterFilter,
  type DeadLetterState,
  type OpenDeadLetter,
  whyLeft,
} from "@pawl/platform/store/dead-letters/dead-letters";
import type { DeadLetterPage } from "@pawl/platform/store/dead-letters/dead-letters";
import type { PauseBook } from "@pawl/platform/store/pauses/pauses";
import type { Depths } from "@pawl/platform/store/survey/survey";
import {
  deadLetterLimit,
  fromWireDeadLetterState,
  fromWireFilter,
  narrowing,
  redrivePace,
  toWireDeadLetter,
} from "@pawl/platform/wire/dead-letter";
import { toWirePause } from "@pawl/platform/wire/pause";
import {
  GetQueueDepthResponseSchema,
  ListDeadLettersResponseSchema,
  ListPausesResponseSchema,
  PreviewRedriveResponseSchema,
  type QueueService,
} from "@pawl/proto/pawl/v1/queue_service_pb";
import { forwardOptions, type Scheduler } from "../request/forward.ts";
import { checkName, checkPageSize, checkRequestId, checkPauseRequest } from "../request/ingress.ts";

export interface QueueServiceDeps {
  readonly scheduler: Scheduler;
  readonly readDepths: () => Promise<Depths>;
  readonly listDeadLetters: (
    filter: DeadLetterFilter & { readonly states: readonly DeadLetterState[] },
    page: { size: number; token: string },
  ) => Promise<DeadLetterPage>;
  readonly readPauses: () => Promise<PauseBook>;
  readonly openDeadLetters: (filter: DeadLetterFilter, limit: number) => Promise<OpenDeadLetter[]>;
}

const PAGE = { default: LIMITS.pageSize, max: LIMITS.pageSizeMax } as const;
/** Ids that a preview shows. */
const SHOWN = 20;

export const createQueueService = (deps: QueueServiceDeps): ServiceImpl<typeof QueueService> => ({
  getQueueDepth: async () => {
    const [{ types, paused }, { pauses }] = await Promise.all([
      deps.readDepths(),
      deps.readPauses(),
    ]);
    const sum = (count: (type: (typeof types)[number]) => number): number =>
      types.reduce((total, type) => total + count(type), 0);
    const total = {
      waiting: sum(({ waiting }) => waiting),
      active: sum(({ active }) => active),
      paused,
      deadLetter: sum(({ deadLetter }) => deadLetter),
    };
    return create(GetQueueDepthResponseSchema, { total, queues: withHeld(types, pauses) });
  },
  listDeadLetters: async (request) => {
    const size = checkPageSize(request.pageSize, PAGE);
    const states = request.states.map((state, index) => {
      const known = fromWireDeadLetterState(state);
      if (known === undefined)
        throw invalidField(`states[${index}]`, "UNKNOWN_ENUM", "is not a state");
      return known;
    });
    const filter = { ...fromWireFilter(request.filter), states };
    const page = await deps.listDeadLetters(filter, { size, token: request.pageToken });
    return create(ListDeadLettersResponseSchema, {
      deadLetters: page.deadLetters.map(toWireDeadLetter),
      nextPageToken: page.nextPageToken,
    });
  },
  previewRedrive: async (request) => {
    const filter = fromWireFilter(request.filter);
    const letters = await deps.openDeadLetters(filter, deadLetterLimit(request.limit));
    return create(PreviewRedriveResponseSchema, preview(letters, filter));
  },
  redriveDeadLetters: (request, context) => {
    fromWireFilter(request.filter);
    deadLetterLimit(request.limit);
    redrivePace(request.maxPerSecond);
    request.requestId = checkRequestId(request.requestId);
    return deps.scheduler.queues.redriveDeadLetters(request, forwardOptions(context));
  },
  discardDeadLetters: (request, context) => {
    narrowing(fromWireFilter(request.filter));
    deadLetterLimit(request.limit);
    request.requestId = checkRequestId(request.requestId);
    return deps.scheduler.queues.discardDeadLetters(request, forwardOptions(context));
  },
  pauseQueue: (request, context) => {
    checkName("node_type", request.nodeType);
    return deps.scheduler.queues.pauseQueue(checkPauseRequest(request), forwardOptions(context));
  },
  resumeQueue: (request, context) => {
    checkName("node_type", request.nodeType);
    return deps.scheduler.queues.resumeQueue(checkPauseRequest(request), forwardOptions(context));
  },
  listPauses: async () => {
    const { pauses } = await deps.readPauses();
    return create(ListPausesResponseSchema, { pauses: pauses.map(toWirePause) });
  },
});

/** A queue that is held is there also when nothing waits in it. */
function withHeld(types: Depths["types"], pauses: PauseBook["pauses"]) {
  const held = new Set(pauses.flatMap(({ scope, name }) => (scope === "queue" ? [name] : [])));
  const counted = types.map((type) => ({ ...type, held: held.delete(type.nodeType) }));
  const empty = [...held].map((nodeType) => ({ nodeType, held: true }));
  return [...counted, ...empty].toSorted((a, b) => (a.nodeType < b.nodeType ? -1 : 1));
}

function preview(letters: readonly OpenDeadLetter[], { ids }: DeadLetterFilter) {
  const moved = letters.filter((letter) => whyLeft(letter) === undefined);
  const left = new Map<string, number>();
  for (const letter of letters) {
    const reason = whyLeft(letter);
    if (reason !== undefined) left.set(reason, (left.get(reason) ?? 0) + 1);
  }
  const found = new Set(letters.map((letter) => letter.deadLetterId));
  const missing = ids.filter((id) => !found.has(id)).length;
  if (missing > 0) left.set("not_open", missing);
  return {
    redriven: moved.length,
    runs: new Set(moved.map((letter) => letter.runId)).size,
    left: [...left].map(([reason, count]) => ({ reason, count })),
    firstIds: moved.slice(0, SHOWN).map((letter) => letter.deadLetterId),
  };
}
