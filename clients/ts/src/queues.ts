// Queues and dead letters: how much is where, what is held, and what to do about executions that were given up.

import type { Client } from "@connectrpc/connect";
import type { Pause } from "@pawl/proto/pawl/v1/pause_pb";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  DeadLetter,
  DeadLetterState,
  GetQueueDepthResponse,
  PreviewRedriveResponse,
  QueueService,
  RedriveDeadLettersResponse,
} from "@pawl/proto/pawl/v1/queue_service_pb";
import {
  type Caller,
  type MutationOptions,
  type PawlCallOptions,
  present,
  requestIdOf,
} from "./caller.ts";
import { type PauseOptions, wordsOf } from "./pause-words.ts";
import { redriveAll, type RedriveStep } from "./redrive-all.ts";

/** What is left out narrows nothing. */
export interface DeadLetterSelection {
  readonly ids?: readonly string[] | undefined;
  readonly workflowId?: string | undefined;
  readonly nodeType?: string | undefined;
  /** Only those given up before. */
  readonly before?: Date | undefined;
}

export interface ListDeadLettersOptions extends DeadLetterSelection, PawlCallOptions {
  readonly states?: readonly DeadLetterState[] | undefined;
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
}

export interface PreviewRedriveOptions extends DeadLetterSelection, PawlCallOptions {
  /** How many are looked at; default 100, at most 1,000. */
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

export interface DeadLetterPage {
  readonly deadLetters: readonly DeadLetter[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

export interface Queues {
  /** How many node executions wait, are claimed, wait for a person or were given up, by node type and in all. */
  depth(options?: PawlCallOptions): Promise<GetQueueDepthResponse>;
  /** Has nobody claim a node of this type, from the answer on; what runs finishes. @throws PawlError NODE_TYPE_NOT_FOUND */
  pause(nodeType: string, options?: PauseOptions): Promise<Pause>;
  /** Lets nodes of this type be claimed again. @throws PawlError NODE_TYPE_NOT_FOUND */
  resume(nodeType: string, options?: PauseOptions): Promise<void>;
  /** The workflows and queues that are paused, queues first. */
  pauses(options?: PawlCallOptions): Promise<readonly Pause[]>;
}

export interface DeadLetters {
  /** A page of dead letters, newest first. */
  list(options?: ListDeadLettersOptions): Promise<DeadLetterPage>;
  /** What a redrive would do; changes nothing. */
  preview(options?: PreviewRedriveOptions): Promise<PreviewRedriveResponse>;
  /** Starts the runs of open dead letters again, for ten seconds at most; `remaining` says what is left. @throws PawlError INPUT_INVALID */
  redrive(options?: RedriveOptions): Promise<RedriveDeadLettersResponse>;
  /** Goes on until all that match are redriven, or `limit` of them; begun again under the same request id it doubles nothing. */
  redriveAll(options?: RedriveOptions): AsyncGenerator<RedriveStep, void>;
  /** Closes open dead letters without starting anything; gives their ids. @throws PawlError INPUT_INVALID without a filter */
  discard(options: DiscardOptions): Promise<readonly string[]>;
}

/** The queue methods of a client. */
export const createQueues = (rpc: Client<typeof QueueService>, call: Caller): Queues => ({
  depth: (options) => call(options, (o) => rpc.getQueueDepth({}, o)),
  async pause(nodeType, options = {}) {
    const request = { nodeType, ...wordsOf(options) };
    return present((await call(options, (o) => rpc.pauseQueue(request, o))).pause);
  },
  async resume(nodeType, options = {}) {
    const request = { nodeType, ...wordsOf(options) };
    await call(options, (o) => rpc.resumeQueue(request, o));
  },
  pauses: async (options) => (await call(options, (o) => rpc.listPauses({}, o))).pauses,
});

/** The dead letter methods of a client. */
export function createDeadLetters(rpc: Client<typeof QueueService>, call: Caller): DeadLetters {
  const redrive: DeadLetters["redrive"] = (options = {}) => {
    const { limit = 0, maxPerSecond = 0 } = options;
    const requestId = requestIdOf(options);
    const request = { filter: filterOf(options), limit, maxPerSecond, requestId };
    return call(options, (o) => rpc.redriveDeadLetters(request, o));
  };
  return {
    async list(options = {}) {
      const { states = [], pageSize = 0, pageToken = "" } = options;
      const request = { filter: filterOf(options), states: [...states], pageSize, pageToken };
      const page = await call(options, (o) => rpc.listDeadLetters(request, o));
      return { deadLetters: page.deadLetters, nextPageToken: page.nextPageToken };
    },
    preview(options = {}) {
      const request = { filter: filterOf(options), limit: options.limit ?? 0 };
      return call(options, (o) => rpc.previewRedrive(request, o));
    },
    redrive,
    redriveAll: (options = {}) =>
      redriveAll(redrive, { ...options, requestId: requestIdOf(options) }),
    async discard(options) {
      const requestId = requestIdOf(options);
      const request = { filter: filterOf(options), limit: options.limit ?? 0, requestId };
      return (await call(options, (o) => rpc.discardDeadLetters(request, o))).deadLetterIds;
    },
  };
}

const filterOf = ({ ids = [], workflowId = "", nodeType = "", before }: DeadLetterSelection) => ({
  deadLetterIds: [...ids],
  workflowId,
  nodeType,
  ...(before === undefined ? {} : { beforeTime: timestampFromDate(before) }),
});
