// Threads: lines of runs that share a memory. The tick changes a thread in the transaction that begins, stops or ends one of its runs.
//
// Race: two schedulers decide about one thread. The change of the thread compares its version, and holds the row until the commit. The
// second finds another version, and its whole transaction fails (`ThreadMoved`). A unique index refuses a second run that holds the thread.
// Lock order: run rows, then threads in order of id.

import type { ThreadStatus } from "@pawl/core/log/thread";
import type { RunId } from "@pawl/core/name/ids";
import type { Taint } from "@pawl/core/policy/taint";
import { json, number, orNull, text, time, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";
import type { Page } from "../page.ts";

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
  /** The thread, and whether this call created it. */
  create(thread: NewThread): Promise<{ readonly thread: ThreadRecord; readonly isNew: boolean }>;
  find(key: ThreadKey): Promise<ThreadRecord | undefined>;
  /** Undefined if there is none. */
  update(key: ThreadKey, edit: ThreadEdit): Promise<ThreadRecord | undefined>;
  stateOf(key: ThreadKey): Promise<ThreadState | undefined>;
  /** Up to `limit` turns after each place, in the order of the places. Undefined for a thread that does not exist. */
  turnsAfter(
    places: readonly ThreadPlace[],
    limit: number,
  ): Promise<readonly (ThreadNews | undefined)[]>;
  /** The place before the run that holds the thread, or after its last run. Undefined if there is no thread. */
  presentOf(key: ThreadKey): Promise<Pick<ThreadPlace, "turn" | "position"> | undefined>;
  /** Its runs that have not ended. */
  liveRuns(key: ThreadKey): Promise<readonly RunId[]>;
  /** Deletes a thread with its runs and everything of them. `busy` if one of them lives. */
  remove(key: ThreadKey): Promise<"removed" | "missing" | "busy">;
}
