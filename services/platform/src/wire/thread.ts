// Threads as clients see them, and the requests about them.

import { create } from "@bufbuild/protobuf";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import type { AskedThread, MultitaskStrategy } from "@pawl/core/log/start";
import type { ThreadStatus } from "@pawl/core/log/thread";
import type { RunId } from "@pawl/core/name/ids";
import {
  MultitaskStrategy as WireStrategy,
  ThreadRelease,
} from "@pawl/proto/pawl/v1/run_service_pb";
import type { StartRunRequest } from "@pawl/proto/pawl/v1/run_service_pb";
import {
  ThreadSchema,
  ThreadStateSchema,
  ThreadStatus as WireStatus,
  type Thread as WireThread,
  type ThreadState as WireState,
} from "@pawl/proto/pawl/v1/thread_pb";
import type {
  CreateThreadRequest,
  DeleteThreadRequest,
  ForkThreadRequest,
  GetThreadStateRequest,
  ListThreadsRequest,
  UpdateThreadRequest,
} from "@pawl/proto/pawl/v1/thread_service_pb";
import type { ThreadFilter, ThreadRecord, ThreadState } from "../store/threads/threads.ts";
import { namesOf } from "./enum.ts";
import { nameOf, optionalName, requestIdOf, runIdOf } from "./fields.ts";
import { metadataOf } from "./metadata.ts";
import { toJsonBytes, toTimestamp } from "./scalar.ts";

const strategies = namesOf(WireStrategy);
const statuses = namesOf(WireStatus);

/** The thread of a start request. Undefined if it names none. @throws INPUT_INVALID */
export function threadOf({
  threadId,
  createThread,
  multitaskStrategy,
  threadRelease,
}: Pick<StartRunRequest, "threadId" | "createThread" | "multitaskStrategy" | "threadRelease">):
  | RequestedThread
  | undefined {
  if (threadId === "") {
    if (!createThread && multitaskStrategy + threadRelease === 0) return undefined;
    throw invalidField("thread_id", "REQUIRED", "is missing: the request says how to use a thread");
  }
  const strategy = strategyOf(multitaskStrategy);
  const yields = yieldsOf(threadRelease);
  return { threadId: nameOf("thread_id", threadId), isCreated: createThread, strategy, yields };
}

/** Whether the run gives its thread up when another one wants it. Undefined if it is not specified. @throws INPUT_INVALID */
export function yieldsOf(wire: ThreadRelease): boolean | undefined {
  if (wire === ThreadRelease.UNSPECIFIED) return undefined;
  if (wire !== ThreadRelease.NEVER && wire !== ThreadRelease.WHEN_WANTED)
    throw invalidField("thread_release", "UNKNOWN_ENUM", "must be NEVER or WHEN_WANTED");
  return wire === ThreadRelease.WHEN_WANTED;
}

export const toWireRelease = (yields: boolean | undefined): ThreadRelease => {
  if (yields === undefined) return ThreadRelease.UNSPECIFIED;
  return yields ? ThreadRelease.WHEN_WANTED : ThreadRelease.NEVER;
};

/** Undefined if it is not specified. @throws INPUT_INVALID */
export function strategyOf(wire: WireStrategy): MultitaskStrategy | undefined {
  if (wire === WireStrategy.UNSPECIFIED) return undefined;
  const strategy: MultitaskStrategy | undefined = strategies.nameOf(wire);
  if (strategy === undefined)
    throw invalidField("multitask_strategy", "UNKNOWN_ENUM", "is not a strategy");
  return strategy;
}

export const toWireStrategy = (strategy: MultitaskStrategy | undefined): WireStrategy =>
  strategy === undefined ? WireStrategy.UNSPECIFIED : strategies.values[strategy];

/** The thread that a caller names. Without a strategy of its own, the assistant of the run says what happens, or `reject`. */
export interface RequestedThread extends Pick<AskedThread, "threadId" | "isCreated"> {
  readonly strategy: MultitaskStrategy | undefined;
  readonly yields: boolean | undefined;
}

export const threadNotFound = (threadId: string): EngineError =>
  new EngineError("THREAD_NOT_FOUND", `There is no thread ${threadId}.`, {
    metadata: { thread_id: threadId },
  });

export const threadExists = (threadId: string, why = "exists already"): EngineError =>
  new EngineError("THREAD_EXISTS", `Thread ${threadId} ${why}.`, {
    metadata: { thread_id: threadId },
  });

/** A command that names a thread and nothing else. */
const parseThreadCommand = (request: {
  readonly threadId: string;
  readonly requestId: string;
}) => ({
  threadId: nameOf("thread_id", request.threadId),
  requestId: requestIdOf(request.requestId),
});

/** Empty metadata is undefined. */
export const parseCreateThread = (request: CreateThreadRequest) => ({
  threadId: optionalName("thread_id", request.threadId),
  metadata: metadataOf(request),
  assistantId: optionalName("assistant_id", request.assistantId),
  requestId: requestIdOf(request.requestId),
});

/** What a request leaves out stays. A request that sets nothing empties the metadata. */
export function parseUpdateThread(request: UpdateThreadRequest) {
  const { assistantId } = request;
  const metadata = metadataOf(request) ?? (assistantId === undefined ? "{}" : null);
  const edit = {
    metadata,
    assistantId: assistantId === undefined ? null : optionalName("assistant_id", assistantId),
  };
  return { ...parseThreadCommand(request), edit };
}

export const parseDeleteThread = (request: DeleteThreadRequest) => ({
  ...parseThreadCommand(request),
  force: request.force,
});

/** Where the state of a thread is read: after a run or an event. Undefined means now. */
export interface StateAt {
  readonly runId: RunId;
  /** 0 means the newest event. */
  readonly atSeq: number;
}

export const parseStateAt = ({
  threadId,
  runId,
  atEventId,
}: Pick<GetThreadStateRequest, "threadId" | "runId" | "atEventId">) => ({
  threadId: nameOf("thread_id", threadId),
  at: stateAtOf(runId, Number(atEventId)),
});

function stateAtOf(runId: string, atSeq: number): StateAt | undefined {
  if (runId !== "") return { runId: runIdOf(runId), atSeq };
  if (atSeq === 0) return undefined;
  throw invalidField("run_id", "REQUIRED", "is missing: at_event_id names an event of a run");
}

export const parseFork = (request: ForkThreadRequest) => ({
  ...parseStateAt(request),
  newThreadId: optionalName("new_thread_id", request.newThreadId),
  metadata: metadataOf(request),
  requestId: requestIdOf(request.requestId),
});

export function parseThreadFilter(request: ListThreadsRequest): ThreadFilter {
  const named = request.statuses.map((status) => {
    const name: ThreadStatus | undefined = statuses.nameOf(status);
    if (name === undefined) throw invalidField("statuses", "UNKNOWN_ENUM", "is not a status");
    return name;
  });
  return { metadata: metadataOf(request) ?? "", statuses: named };
}

export const toWireThread = (thread: ThreadRecord): WireThread =>
  create(ThreadSchema, {
    threadId: thread.threadId,
    status: statuses.values[thread.status],
    metadataJson: toJsonBytes(thread.metadata),
    runId: thread.holderRunId ?? "",
    stateRunId: thread.stateRunId ?? "",
    runCount: BigInt(thread.runCount),
    createTime: toTimestamp(thread.createdAt),
    updateTime: toTimestamp(thread.updatedAt),
    forkedFrom: thread.forkedFrom ?? "",
    assistantId: thread.assistantId ?? "",
  });

export const toWireThreadState = ({ memory, output, stateRunId }: ThreadState): WireState =>
  create(ThreadStateSchema, {
    memoryJson: toJsonBytes(memory),
    outputJson: toJsonBytes(output ?? undefined),
    runId: stateRunId ?? "",
  });
