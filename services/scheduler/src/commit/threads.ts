// The threads that one tick decides about. The tick reads each once, changes it here, and writes it with its version compared. So the tick
// judges several starts of one thread one after the other, in the order of their arrival.

import { type Reference, referencesIn } from "@pawl/core/data/reference";
import { invariant } from "@pawl/core/fault/invariant";
import { leavesState, leftBy, threadStatusAfter, type ThreadStatus } from "@pawl/core/log/thread";
import type { RunState } from "@pawl/core/log/state";
import type { RunId } from "@pawl/core/name/ids";
import type {
  LoadedThread,
  ThreadChange,
  ThreadKey,
  ThreadMoves,
  ThreadRun,
  ThreadState,
} from "@pawl/platform/store/threads/threads";

/** A thread as the tick leaves it. */
export interface BookedThread extends ThreadKey {
  /** 0 if the tick creates it. */
  version: number;
  /** False until a user or a run creates it. */
  exists: boolean;
  /** Whether a user deleted it, and its runs are being removed. */
  readonly isDeleted: boolean;
  status: ThreadStatus;
  holderRunId: RunId | null;
  runCount: number;
  waiting: { readonly runId: RunId; readonly position: number }[];
  state: ThreadState;
  isChanged: boolean;
  isStateChanged: boolean;
  /** Whether its state names stored values, as the store has it. */
  hasValues: boolean;
  /** What the tick changes about runs of the thread. */
  readonly runs: Map<RunId, ThreadRun>;
}

const EMPTY: ThreadState = { memory: "{}", memoryTaint: null, output: null, stateRunId: null };

export class ThreadBook {
  readonly #threads = new Map<string, BookedThread>();

  find({ tenantId, threadId }: ThreadKey): BookedThread | undefined {
    return this.#threads.get(`${tenantId}\n${threadId}`);
  }

  /** A thread that the tick has read. */
  get(key: ThreadKey): BookedThread {
    const found = this.find(key);
    invariant(found !== undefined, `thread ${key.threadId} was read`);
    return found;
  }

  /** Keeps what the store has of the asked threads. */
  keep(asked: readonly ThreadKey[], loaded: readonly LoadedThread[]): void {
    for (const { tenantId, threadId } of asked) {
      const row = loaded.find((each) => each.tenantId === tenantId && each.threadId === threadId);
      const own = { isChanged: false, isStateChanged: false, runs: new Map<RunId, ThreadRun>() };
      const hasValues = row !== undefined && namedValues(row).length > 0;
      const none = { version: 0, status: "idle", holderRunId: null, runCount: 0 } as const;
      const { memory, memoryTaint, output, stateRunId } = row ?? EMPTY;
      const { version, status, holderRunId, runCount } = row ?? none;
      this.#threads.set(`${tenantId}\n${threadId}`, {
        ...{ tenantId, threadId, version, status, holderRunId, runCount },
        exists: row !== undefined && !row.isDeleted,
        isDeleted: row?.isDeleted === true,
        waiting: [...(row?.waiting ?? [])],
        state: { memory, memoryTaint, output, stateRunId },
        ...{ ...own, hasValues },
      });
    }
  }

  /** Takes what the tick has changed since the last call. The store has it in the versions after. */
  take(): ThreadMoves {
    const changed = [...this.#threads.values()].filter(({ isChanged }) => isChanged);
    const moves = {
      threads: changed.map(changeOf),
      runs: changed.flatMap(({ runs }) => [...runs.values()]),
      values: changed.flatMap(valuesOf),
    };
    for (const thread of changed) {
      thread.version += 1;
      if (thread.isStateChanged) thread.hasValues = namedValues(thread.state).length > 0;
      thread.isChanged = thread.isStateChanged = false;
      thread.runs.clear();
    }
    return moves;
  }
}

function changeOf(thread: BookedThread): ThreadChange {
  const { tenantId, threadId, version, status, holderRunId, runCount, isStateChanged } = thread;
  const { memory, memoryTaint, output, stateRunId } = thread.state;
  const kept = { memory: null, memoryTaint: null, output: null, stateRunId: null };
  const taint = memoryTaint === null ? null : JSON.stringify(memoryTaint);
  return {
    ...{ tenantId, threadId, expectedVersion: version, status, holderRunId, runCount },
    ...(isStateChanged ? { memory, memoryTaint: taint, output, stateRunId } : kept),
  };
}

/** The digests of the stored values that a state names, each once. */
export const namedValues = ({ memory, output }: ThreadStateTexts): readonly string[] => [
  ...new Set([memory, output ?? ""].flatMap((text) => referencesIn(text).map(digestOf))),
];

type ThreadStateTexts = Pick<ThreadState, "memory" | "output">;

const digestOf = ({ sha256 }: Reference): string => sha256;

/** What changes about the values that the state of a thread names. Most threads name none. */
function valuesOf({ tenantId, threadId, state, isStateChanged, hasValues }: BookedThread) {
  if (!isStateChanged) return [];
  const sha256s = namedValues(state);
  return hasValues || sha256s.length > 0 ? [{ tenantId, threadId, sha256s }] : [];
}

/** A run joins the end of the line. Returns its position. */
export function joinLine(thread: BookedThread, runId: RunId): number {
  thread.isChanged = true;
  thread.runCount += 1;
  const position = thread.runCount;
  thread.waiting.push({ runId, position });
  note(thread, { runId, position, state: "waiting", isNew: true });
  return position;
}

/** The first run of the line that may begin takes the thread. */
export function takeThread(thread: BookedThread, runId: RunId): void {
  const at = thread.waiting.findIndex((each) => each.runId === runId);
  const [taken] = thread.waiting.splice(at, 1);
  invariant(taken !== undefined && thread.holderRunId === null, `run ${runId} is next`);
  thread.isChanged = true;
  thread.holderRunId = runId;
  thread.status = "busy";
  note(thread, { ...taken, state: "holding", isNew: false });
}

/** A run that has ended leaves the thread, or the line. A repeat changes nothing. */
export function leaveThread(thread: BookedThread, run: RunState): void {
  const { runId, thread: link } = run;
  const isHolder = thread.holderRunId === runId;
  const at = thread.waiting.findIndex((each) => each.runId === runId);
  if (link === undefined || (!isHolder && at < 0)) return;
  thread.isChanged = true;
  note(thread, { runId, position: link.position, state: "over", isNew: false });
  if (!isHolder) {
    thread.waiting.splice(at, 1);
    return;
  }
  thread.holderRunId = null;
  thread.status = threadStatusAfter(run);
  if (!leavesState(run)) return;
  const left = leftBy(run);
  thread.state = { ...left, output: left.output ?? thread.state.output };
  thread.isStateChanged = true;
}

function note(
  { tenantId, threadId, runs }: BookedThread,
  run: Omit<ThreadRun, "tenantId" | "threadId">,
): void {
  const isNew = run.isNew || runs.get(run.runId)?.isNew === true;
  runs.set(run.runId, { tenantId, threadId, ...run, isNew });
}
