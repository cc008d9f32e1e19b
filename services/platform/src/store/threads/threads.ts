// Threads: lines of runs that share a memory. The tick changes a thread in the transaction that begins, stops or ends one of its runs.
//
// Race: two schedulers decide about one thread. The change of the thread compares its version, and holds the row until the commit. The
// second finds another version, and its whole transaction fails (`ThreadMoved`). A unique index refuses a second run that holds the thread.
// Lock order: run rows, then threads in order of id.
//
// Race: a user deletes a thread while a run starts on it. The deletion marks the thread in a transaction of its own, which locks it, looks for
// live runs, and gives it the next version. So either the deletion finds the run, or the start finds another version and then the mark.
// Behind the mark its runs are removed in steps. A scheduler that dies between two steps leaves the mark, and the next sweep continues.

import type { ThreadStatus } from "@pawl/core/log/thread";
import type { RunId } from "@pawl/core/name/ids";
import type { Taint } from "@pawl/core/policy/taint";
import { flag, json, number, orNull, text, time, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";
import type { Page } from "../page.ts";
import type { Removal } from "../runs/runs.ts";

export const THREAD_KEY = { tenantId: text(), threadId: text() };
export type ThreadKey = Typed<typeof THREAD_KEY>;

/** The memory and the output that the next run of a thread begins with. */
export const THREAD_STATE = {
  /** JSON text: an object. */
  memory: text(),
  /** The labels of the values that have some. */
  memoryTaint: orNull(json<Readonly<Record<string, Taint>>>()),
  /** JSON text. Null before a run completed. */
  output: orNull(text()),
  stateRunId: orNull(uuid<RunId>()),
};
export type ThreadState = Typed<typeof THREAD_STATE>;

/** The columns of a thread, without its state. */
export const THREAD = {
  ...THREAD_KEY,
  status: text<ThreadStatus>(),
  /** JSON text: an object. */
  metadata: text(),
  holderRunId: orNull(uuid<RunId>()),
  runCount: number(),
  stateRunId: orNull(uuid<RunId>()),
  forkedFrom: orNull(text()),
  /** The assistant of starts that name no workflow. */
  assistantId: orNull(text()),
  /** The request that created it. Null if a run created it, or a request without an id. */
  requestId: orNull(text()),
  createdAt: time(),
  updatedAt: time(),
};
export type ThreadRecord = Typed<typeof THREAD>;
export type ThreadPage = Page<ThreadRecord>;

export interface ThreadFilter {
  /** JSON text: an object that the metadata contains. Empty means all. */
  readonly metadata: string;
  /** Empty means all. */
  readonly statuses: readonly ThreadStatus[];
}

/** What a scheduler reads of a thread before it decides. */
export const LOADED_THREAD = {
  ...THREAD_KEY,
  ...THREAD_STATE,
  version: number(),
  status: text<ThreadStatus>(),
  holderRunId: orNull(uuid<RunId>()),
  runCount: number(),
  /** Whether its runs are being removed. */
  isDeleted: flag(),
};
export interface LoadedThread extends Typed<typeof LOADED_THREAD> {
  /** The runs that wait for it, in order. */
  readonly waiting: readonly WaitingRun[];
}
export const WAITING_RUN = { runId: uuid<RunId>(), position: number() };
type WaitingRun = Typed<typeof WAITING_RUN>;

/** A thread after a decision. Version 0 creates it. */
export const THREAD_CHANGE = {
  ...THREAD_KEY,
  expectedVersion: number(),
  status: text<ThreadStatus>(),
  holderRunId: orNull(uuid<RunId>()),
  runCount: number(),
  /** Null keeps the state. */
  memory: orNull(text()),
  memoryTaint: orNull(text()),
  output: orNull(text()),
  stateRunId: orNull(uuid<RunId>()),
};
export type ThreadChange = Typed<typeof THREAD_CHANGE>;

/** A run of a thread after a decision. */
export const THREAD_RUN = {
  ...THREAD_KEY,
  ...WAITING_RUN,
  state: text<"waiting" | "holding" | "over">(),
};
export interface ThreadRun extends Typed<typeof THREAD_RUN> {
  /** Whether this tick accepts the run. */
  readonly isNew: boolean;
}

/** The digests of the stored values that the state of a thread names. They replace those that it named before. */
export interface ThreadValues extends ThreadKey {
  readonly sha256s: readonly string[];
}

/** What a tick changes about threads. */
export interface ThreadMoves {
  readonly threads: readonly ThreadChange[];
  readonly runs: readonly ThreadRun[];
  /** Threads whose state names stored values, or named some before. */
  readonly values: readonly ThreadValues[];
}

/** A run with the turn that it gets unless it has one: the version that the move gives to its thread. Null while it waits. */
export type TurnedRun = ThreadRun & { readonly turn: number | null };

/** The runs of a move with their turns. */
export function withTurns({ threads, runs }: ThreadMoves): TurnedRun[] {
  const versions = new Map(
    threads.map(({ tenantId, threadId, expectedVersion }) => [
      `${tenantId}\n${threadId}`,
      expectedVersion + 1,
    ]),
  );
  return runs.map((run) => {
    const version = versions.get(`${run.tenantId}\n${run.threadId}`);
    return { ...run, turn: run.state === "waiting" ? null : (version ?? null) };
  });
}

/** A place in the order of the turns of a thread: after this turn and position. Both are 0 at the beginning. */
export const THREAD_PLACE = { ...THREAD_KEY, turn: number(), position: number() };
export type ThreadPlace = Typed<typeof THREAD_PLACE>;

/** A run that took its thread, or ended without it. */
export interface ThreadTurn {
  readonly runId: RunId;
  readonly turn: number;
  readonly position: number;
}

/** A thread as a stream of its runs reads it. */
export interface ThreadNews {
  /** Another thread of the same id, created after this one was deleted, has another time. */
  readonly createdAt: number;
  /** Whether no run holds it. */
  readonly isIdle: boolean;
  /** Its next turns after a place. */
  readonly turns: readonly ThreadTurn[];
}

/** A thread that a user creates, with the state that it begins with. */
export const NEW_THREAD = {
  ...THREAD_KEY,
  metadata: text(),
  memory: text(),
  memoryTaint: orNull(text()),
  output: orNull(text()),
  forkedFrom: orNull(text()),
  assistantId: orNull(text()),
  requestId: orNull(text()),
};
/** `sha256s`: the stored values that its state names. */
export type NewThread = Typed<typeof NEW_THREAD> & { readonly sha256s: readonly string[] };

/** What a user changes about a thread. */
interface ThreadEdit {
  /** JSON text. Null keeps the metadata. */
  readonly metadata: string | null;
  /** Empty removes the assistant. Null keeps it. */
  readonly assistantId: string | null;
}

/** Threads as users create and delete them. Only the scheduler writes them. */
export interface Threads {
  /** The thread, and whether this call created it. Undefined if it has the id of one that is being removed. */
  create(
    thread: NewThread,
  ): Promise<{ readonly thread: ThreadRecord; readonly isNew: boolean } | undefined>;
  find(key: ThreadKey): Promise<ThreadRecord | undefined>;
  /** Undefined if there is none. */
  update(key: ThreadKey, edit: ThreadEdit): Promise<ThreadRecord | undefined>;
  stateOf(key: ThreadKey): Promise<ThreadState | undefined>;
  /** Its runs that have not ended. */
  liveRuns(key: ThreadKey): Promise<readonly RunId[]>;
  /** Marks a thread without live runs as deleted. No run of it starts from then on. */
  close(key: ThreadKey): Promise<"closed" | "missing" | "busy">;
  /** Removes some runs of a closed thread, and the thread after the last of them. */
  removeSome(key: ThreadKey): Promise<Removal>;
  /** Closed threads that are not removed yet. */
  closed(): Promise<readonly ThreadKey[]>;
}
