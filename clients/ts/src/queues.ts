// Queues and dead letters: how many nodes wait, which queues are paused, and the commands about dead letters.

import type { Client } from "@connectrpc/connect";
import { durationFromMs, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Pause } from "@pawl/proto/pawl/v1/pause_pb";
import type {
  DeadLetter,
  DeadLetterState,
  GetQueueDepthResponse,
  GetQueueStatsResponse,
  LeftDeadLetters,
  PreviewRedriveResponse,
  QueueService,
  RedriveDeadLettersResponse,
  RedrivenLetter,
} from "@pawl/proto/pawl/v1/queue_service_pb";
import type { Clock } from "./backoff.ts";
import {
  type Caller,
  identified,
  type MutationOptions,
  type Page,
  type PageOptions,
  type PauseOptions,
  type PawlCallOptions,
  pick,
} from "./caller.ts";

/** A selection of dead letters. An absent field does not narrow the selection. */
export interface DeadLetterSelection {
  readonly ids?: readonly string[] | undefined;
  readonly workflowId?: string | undefined;
  readonly nodeType?: string | undefined;
  /** Only letters from before this time. */
  readonly before?: Date | undefined;
}

export interface ListDeadLettersOptions extends DeadLetterSelection, PageOptions {
  readonly states?: readonly DeadLetterState[] | undefined;
}

export interface PreviewRedriveOptions extends DeadLetterSelection, PawlCallOptions {
  /** How many letters are read. Default 100, at most 1,000. */
  readonly limit?: number | undefined;
}

export interface DiscardOptions extends DeadLetterSelection, MutationOptions {
  /** How many at most; default 100, at most 1,000. */
  readonly limit?: number | undefined;
}

export interface RedriveOptions extends DiscardOptions {
  /** How many a second at most; default 50. */
  readonly maxPerSecond?: number | undefined;
}

export type DeadLetterPage = Page<"deadLetters", DeadLetter>;

/** The progress of a redrive of many. */
export interface RedriveStep {
  /** Dead letters redriven since the step before. */
  readonly redriven: readonly RedrivenLetter[];
  /** How many in all. */
  readonly redrivenCount: number;
  /** How many more match and could be redriven, counted up to 1,000. 0 at the end. */
  readonly remaining: number;
  /** Dead letters that the redrive skipped, and the reasons. */
  readonly left: readonly LeftDeadLetters[];
}

export interface QueueStatsOptions extends PawlCallOptions {
  /** The node type of the points; default all together. */
  readonly nodeType?: string | undefined;
  /** How far back the points go; default one hour, at most 31 days. */
  readonly rangeMs?: number | undefined;
  /** The time between two points; default a sixtieth of the range. */
  readonly stepMs?: number | undefined;
}

export interface FollowStatsOptions extends QueueStatsOptions {
  /** The time between two reads; default 5 s. */
  readonly everyMs?: number | undefined;
}

export interface Queues {
  /** How many node executions wait, are claimed, wait for a person or are dead letters, by node type and in all. */
  depth(options?: PawlCallOptions): Promise<GetQueueDepthResponse>;
  /** What schedulers counted at regular times: the newest sample, and points of the past for a plot. */
  stats(options?: QueueStatsOptions): Promise<GetQueueStatsResponse>;
  /** The same again and again, until it is aborted. */
  followStats(options?: FollowStatsOptions): AsyncGenerator<GetQueueStatsResponse, void>;
  /** Stops executors from claiming nodes of this type. Running nodes finish. @throws PawlError NODE_TYPE_NOT_FOUND */
  pause(nodeType: string, options?: PauseOptions): Promise<Pause>;
  /** Lets executors claim nodes of this type again. @throws PawlError NODE_TYPE_NOT_FOUND */
  resume(nodeType: string, options?: PauseOptions): Promise<void>;
  /** The workflows and queues that are paused, queues first. */
  pauses(options?: PawlCallOptions): Promise<readonly Pause[]>;
}

export interface DeadLetters {
  /** A page of dead letters, newest first. */
  list(options?: ListDeadLettersOptions): Promise<DeadLetterPage>;
  /** Shows the effect of a redrive, and changes nothing. */
  preview(options?: PreviewRedriveOptions): Promise<PreviewRedriveResponse>;
  /** Starts the runs of open dead letters again, for ten seconds at most. `remaining` counts the rest. @throws PawlError INPUT_INVALID */
  redrive(options?: RedriveOptions): Promise<RedriveDeadLettersResponse>;
  /** Redrives until no matching letter is left, or until `limit` are redriven. A repeat under the same request id doubles nothing. */
  redriveAll(options?: RedriveOptions): AsyncGenerator<RedriveStep, void>;
  /** Closes open dead letters without starting a run. Returns their ids. @throws PawlError INPUT_INVALID without a filter */
  discard(options: DiscardOptions): Promise<readonly string[]>;
}

const FOLLOW_MS = 5_000;

export const createQueues = (
  rpc: Client<typeof QueueService>,
  call: Caller,
  clock: Clock,
): Queues => ({
  depth: (options = {}) => call(rpc.getQueueDepth, options),
  stats: (options = {}) => call(rpc.getQueueStats, questionOf(options)),
  async *followStats({ everyMs = FOLLOW_MS, ...options } = {}) {
    const { signal } = options;
    for (;;) {
      yield await call(rpc.getQueueStats, questionOf(options));
      await clock.pause(everyMs, signal);
      if (signal?.aborted === true) return;
    }
  },
  pause: (nodeType, options) =>
    pick(call(rpc.pauseQueue, { ...identified(options), nodeType }), "pause"),
  async resume(nodeType, options) {
    await call(rpc.resumeQueue, { ...identified(options), nodeType });
  },
  pauses: (options = {}) => pick(call(rpc.listPauses, options), "pauses"),
});

const questionOf = ({ signal, nodeType, rangeMs, stepMs }: QueueStatsOptions) => ({
  ...{ signal, nodeType },
  range: rangeMs === undefined ? undefined : durationFromMs(rangeMs),
  step: stepMs === undefined ? undefined : durationFromMs(stepMs),
});

export function createDeadLetters(rpc: Client<typeof QueueService>, call: Caller): DeadLetters {
  const redrive: DeadLetters["redrive"] = (options) =>
    call(rpc.redriveDeadLetters, filtered(identified(options)));
  return {
    list: (options = {}) => call(rpc.listDeadLetters, filtered(options)),
    preview: (options = {}) => call(rpc.previewRedrive, filtered(options)),
    redrive,
    redriveAll: (options) => redriveAll(redrive, identified(options)),
    discard: (options) =>
      pick(call(rpc.discardDeadLetters, filtered(identified(options))), "deadLetterIds"),
  };
}

/** The options with the selection as the filter of a request. */
const filtered = <Options extends DeadLetterSelection>(options: Options) => ({
  ...options,
  filter: {
    deadLetterIds: [...(options.ids ?? [])],
    workflowId: options.workflowId ?? "",
    nodeType: options.nodeType ?? "",
    ...(options.before === undefined ? {} : { beforeTime: timestampFromDate(options.before) }),
  },
});

/** The most dead letters of one request. */
const LIMIT_MAX = 1_000;

/**
 * Redrives any number of dead letters, a step for each call. The server limits each call in time and number, and the next call continues.
 * Each request id is made of the first, so a repeat of the whole under that id doubles nothing. It ends when a call redrives nothing.
 */
async function* redriveAll(
  redrive: DeadLetters["redrive"],
  options: RedriveOptions & { readonly requestId: string },
): AsyncGenerator<RedriveStep, void> {
  const { ids = [], limit: wanted = ids.length > 0 ? ids.length : Infinity, requestId } = options;
  let redrivenCount = 0;
  for (let request = 1; redrivenCount < wanted; request++) {
    const limit = Math.min(LIMIT_MAX, wanted - redrivenCount);
    const own = request === 1 ? requestId : `${requestId}.${request}`;
    let seen = 0;
    let isOver = false;
    while (!isOver) {
      // The answer to a repeat lists all letters that were redriven under its request id.
      const answer = await redrive({ ...options, limit, requestId: own });
      const redriven = answer.redriven.slice(seen);
      seen = answer.redriven.length;
      const { remaining, left } = answer;
      isOver = seen >= limit;
      yield { redriven, redrivenCount: redrivenCount + seen, remaining, left };
      if (remaining === 0 || redriven.length === 0) return;
    }
    redrivenCount += seen;
  }
}
