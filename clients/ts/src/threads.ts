// Threads: lines of runs that share a memory. A start names the thread of its run.

import type { Client } from "@connectrpc/connect";
import {
  MultitaskStrategy,
  ThreadRelease as WireRelease,
} from "@pawl/proto/pawl/v1/run_service_pb";
import type { Thread, ThreadState, ThreadStatus } from "@pawl/proto/pawl/v1/thread_pb";
import type { ThreadService } from "@pawl/proto/pawl/v1/thread_service_pb";
import {
  type Caller,
  identified,
  type MutationOptions,
  type Page,
  type PageOptions,
  type PawlCallOptions,
  pick,
} from "./caller.ts";
import { bytesOf, type Json } from "./json.ts";

/** What a new run does with the runs of its thread that have not ended. */
export type Multitask = "reject" | "enqueue" | "interrupt" | "rollback";

/** Whether a run gives its thread up while it only waits for people or signals. */
export type ThreadRelease = "never" | "when_wanted";

/** The thread of a start. */
export interface ThreadOptions {
  /** The thread that the run belongs to: it begins with the memory of the thread. */
  readonly threadId?: string | undefined;
  /** Creates the thread if there is none. Otherwise the start is refused with THREAD_NOT_FOUND. */
  readonly createThread?: boolean | undefined;
  /** Default reject: THREAD_BUSY while another run of the thread has not ended. */
  readonly multitask?: Multitask | undefined;
  /** Default never. `when_wanted`: the run is interrupted if it only waits and another run wants the thread. */
  readonly threadRelease?: ThreadRelease | undefined;
}

/** The assistant of a start. */
export interface AssistantOptions {
  /** The assistant in place of a workflow: the workflow id is empty then. */
  readonly assistantId?: string | undefined;
}

const STRATEGIES: Readonly<Record<Multitask, MultitaskStrategy>> = {
  reject: MultitaskStrategy.REJECT,
  enqueue: MultitaskStrategy.ENQUEUE,
  interrupt: MultitaskStrategy.INTERRUPT,
  rollback: MultitaskStrategy.ROLLBACK,
};

/** The fields of a start request. */
export const threadOf = ({
  threadId,
  createThread,
  multitask,
  threadRelease,
  assistantId,
}: ThreadOptions & AssistantOptions) => ({
  ...(threadId === undefined ? {} : { threadId }),
  ...(createThread === undefined ? {} : { createThread }),
  ...strategyOf(multitask),
  ...releaseOf(threadRelease),
  ...(assistantId === undefined ? {} : { assistantId }),
});

const RELEASES: Readonly<Record<ThreadRelease, WireRelease>> = {
  never: WireRelease.NEVER,
  when_wanted: WireRelease.WHEN_WANTED,
};

export const releaseOf = (release: ThreadRelease | undefined) =>
  release === undefined ? {} : { threadRelease: RELEASES[release] };

export const strategyOf = (multitask: Multitask | undefined) =>
  multitask === undefined ? {} : { multitaskStrategy: STRATEGIES[multitask] };

export interface MetadataOptions extends MutationOptions {
  /** A JSON object that describes the thread. */
  readonly metadata?: Json | undefined;
}

export interface ThreadAssistantOptions extends MutationOptions {
  /** The assistant of starts that name no workflow. */
  readonly assistantId?: string | undefined;
}

export interface ListThreadsOptions extends PageOptions {
  /** Only threads whose metadata contains this object. */
  readonly metadata?: Json | undefined;
  readonly statuses?: readonly ThreadStatus[] | undefined;
}

export type ThreadPage = Page<"threads", Thread>;

/** A moment of a thread: after a run, or after an event of a run. Now if absent. */
export interface ThreadMoment {
  readonly runId?: string | undefined;
  readonly atEventId?: bigint | number | undefined;
}

export interface ThreadStateOptions extends PawlCallOptions, ThreadMoment {}

export interface ForkThreadOptions extends MetadataOptions, ThreadMoment {
  /** The id of the new thread. The scheduler makes one by default. */
  readonly newThreadId?: string | undefined;
}

export interface Threads {
  /** Creates a thread; without an id the scheduler makes one. @throws PawlError THREAD_EXISTS, ASSISTANT_NOT_FOUND */
  create(threadId?: string, options?: MetadataOptions & ThreadAssistantOptions): Promise<Thread>;
  /** @throws PawlError THREAD_NOT_FOUND */
  get(threadId: string, options?: PawlCallOptions): Promise<Thread>;
  /** A page of threads in order of id. */
  list(options?: ListThreadsOptions): Promise<ThreadPage>;
  /**
   * Replaces the metadata, unless it is undefined. An empty `assistantId` removes the assistant.
   * @throws PawlError THREAD_NOT_FOUND, ASSISTANT_NOT_FOUND
   */
  update(
    threadId: string,
    metadata: Json | undefined,
    options?: ThreadAssistantOptions,
  ): Promise<Thread>;
  /** Deletes a thread with its runs. `force` cancels those that have not ended. @throws PawlError THREAD_NOT_FOUND, THREAD_BUSY */
  delete(
    threadId: string,
    options?: MutationOptions & { readonly force?: boolean | undefined },
  ): Promise<void>;
  /** What the next run begins with, or what the thread held at a moment. @throws PawlError THREAD_NOT_FOUND */
  state(threadId: string, options?: ThreadStateOptions): Promise<ThreadState>;
  /** Creates a thread with the state of another one at a moment. @throws PawlError THREAD_NOT_FOUND, THREAD_EXISTS */
  fork(threadId: string, options?: ForkThreadOptions): Promise<Thread>;
}

export function createThreads(rpc: Client<typeof ThreadService>, call: Caller): Threads {
  return {
    create: (threadId = "", { metadata, ...options } = {}) =>
      pick(
        call(rpc.createThread, { ...identified(options), threadId, ...jsonOf(metadata) }),
        "thread",
      ),
    get: (threadId, options) => pick(call(rpc.getThread, { ...options, threadId }), "thread"),
    list: ({ metadata, ...options } = {}) =>
      call(rpc.listThreads, { ...options, ...jsonOf(metadata) }),
    update: (threadId, metadata, options) =>
      pick(
        call(rpc.updateThread, { ...identified(options), threadId, ...jsonOf(metadata) }),
        "thread",
      ),
    async delete(threadId, options) {
      await call(rpc.deleteThread, { ...identified(options), threadId });
    },
    state: (threadId, { atEventId, ...options } = {}) =>
      pick(call(rpc.getThreadState, { ...options, threadId, ...momentOf(atEventId) }), "state"),
    fork: (threadId, { metadata, atEventId, ...options } = {}) => {
      const request = { ...identified(options), threadId, ...jsonOf(metadata) };
      return pick(call(rpc.forkThread, { ...request, ...momentOf(atEventId) }), "thread");
    },
  };
}

const jsonOf = (metadata: Json | undefined) =>
  metadata === undefined ? {} : { metadataJson: bytesOf(metadata, undefined) ?? new Uint8Array() };

const momentOf = (atEventId: bigint | number | undefined) =>
  atEventId === undefined ? {} : { atEventId: BigInt(atEventId) };
