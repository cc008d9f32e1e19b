// Threads in memory, with the version and the unique keys of their tables.

import type { RunId } from "@pawl/core/name/ids";
import { type InTurn, pairKey, type StagedRows, UniqueViolation } from "../memory/staging.ts";
import type { Tables } from "../memory/store.ts";
import { deleteRunTree } from "../runs/memory.ts";
import { nameOfThread } from "../values/memory.ts";
import { ThreadMoved } from "../tick/journal.ts";
import type {
  LoadedThread,
  NewThread,
  ThreadChange,
  ThreadKey,
  ThreadMoves,
  ThreadRecord,
  Threads,
  ThreadState,
  TurnedRun,
} from "./threads.ts";
import { withTurns } from "./threads.ts";

export interface ThreadRow extends ThreadRecord, ThreadState {
  readonly version: number;
  readonly isDeleted: boolean;
}

const keyOf = ({ tenantId, threadId }: ThreadKey): string => pairKey(tenantId, threadId);

/** A thread with the runs that wait for it. */
export function loadThread(tables: Tables, key: ThreadKey): LoadedThread[] {
  const thread = tables.threads.get(keyOf(key));
  if (thread === undefined) return [];
  const waiting = runsOf(tables, key)
    .filter(({ state }) => state === "waiting")
    .map(({ runId, position }) => ({ runId, position }));
  return [{ ...thread, waiting }];
}

const runsOf = ({ threadRuns }: Tables, key: ThreadKey): TurnedRun[] =>
  [...threadRuns.values()]
    .filter((run) => keyOf(run) === keyOf(key))
    .toSorted((a, b) => a.position - b.position);

/** @throws ThreadMoved, UniqueViolation */
export function moveThreads(
  rows: StagedRows,
  { stored }: Pick<Tables, "stored">,
  moves: ThreadMoves,
): void {
  for (const thread of moves.threads) moveThread(rows, thread);
  for (const run of withTurns(moves)) {
    const { runId, threadId } = run;
    rows.threadRuns.set(runId, { ...run, turn: rows.threadRuns.get(runId)?.turn ?? run.turn });
    const row = rows.runs.get(runId);
    if (row !== undefined) rows.runs.set(runId, { ...row, threadId });
  }
  for (const named of moves.values) nameOfThread(stored, keyOf(named), named.sha256s, rows.now);
  const holders = new Set<string>();
  for (const run of rows.threadRuns.values()) {
    if (run.state !== "holding") continue;
    const key = keyOf(run);
    if (holders.has(key)) throw new UniqueViolation("thread_runs_holder", key);
    holders.add(key);
  }
}

function moveThread({ threads, now }: StagedRows, change: ThreadChange): void {
  const { expectedVersion, memory, output, memoryTaint, stateRunId, ...moved } = change;
  const key = keyOf(change);
  const before = threads.get(key);
  if ((before?.version ?? 0) !== expectedVersion) throw new ThreadMoved("a thread moved on");
  const known = before ?? { ...NEW, createdAt: now };
  const taint = memoryTaint === null ? null : (JSON.parse(memoryTaint) as ThreadRow["memoryTaint"]);
  threads.set(key, {
    ...known,
    ...moved,
    version: expectedVersion + 1,
    memory: memory ?? known.memory,
    memoryTaint: memory === null ? known.memoryTaint : taint,
    output: output ?? known.output,
    stateRunId: stateRunId ?? known.stateRunId,
    updatedAt: now,
  });
}

const NEW = {
  metadata: "{}",
  memory: "{}",
  memoryTaint: null,
  output: null,
  stateRunId: null,
  forkedFrom: null,
  assistantId: null,
  requestId: null,
  isDeleted: false,
};

/** Threads over the tables. */
export function createMemoryThreads(tables: Tables, now: () => number, inTurn: InTurn): Threads {
  const { threads } = tables;
  const find = (key: ThreadKey): ThreadRow | undefined => {
    const found = threads.get(keyOf(key));
    return found?.isDeleted === true ? undefined : found;
  };
  const liveRuns = (key: ThreadKey): RunId[] =>
    runsOf(tables, key).flatMap(({ state, runId }) => (state === "over" ? [] : [runId]));
  return {
    create: (thread) =>
      inTurn(() => {
        const found = threads.get(keyOf(thread));
        if (found?.isDeleted === true) return undefined;
        if (found !== undefined) return { thread: found, isNew: false };
        nameOfThread(tables.stored, keyOf(thread), thread.sha256s, now());
        const made = newRow(thread, now());
        threads.set(keyOf(thread), made);
        return { thread: made, isNew: true };
      }),
    find: async (key) => find(key),
    update: (key, { metadata, assistantId }) =>
      inTurn(() => {
        const found = find(key);
        if (found === undefined) return undefined;
        const updated = {
          ...found,
          metadata: metadata ?? found.metadata,
          assistantId: assistantId === "" ? null : (assistantId ?? found.assistantId),
          updatedAt: now(),
        };
        threads.set(keyOf(key), updated);
        return updated;
      }),
    stateOf: async (key) => find(key),
    liveRuns: async (key) => liveRuns(key),
    close: (key) =>
      inTurn(() => {
        const found = find(key);
        if (found === undefined) return "missing";
        if (liveRuns(key).length > 0) return "busy";
        threads.set(keyOf(key), { ...found, isDeleted: true, version: found.version + 1 });
        return "closed";
      }),
    removeSome: (key) =>
      inTurn(() => {
        if (threads.get(keyOf(key))?.isDeleted !== true) return "removed";
        for (const { runId } of runsOf(tables, key)) deleteRunTree(tables, runId, now());
        if (runsOf(tables, key).length > 0) return "waits";
        nameOfThread(tables.stored, keyOf(key), [], now());
        threads.delete(keyOf(key));
        return "removed";
      }),
    closed: async () => [...threads.values()].filter(({ isDeleted }) => isDeleted),
  };
}

function newRow(thread: NewThread, now: number): ThreadRow {
  const { memoryTaint, sha256s: _named, ...given } = thread;
  const taint = memoryTaint === null ? null : (JSON.parse(memoryTaint) as ThreadRow["memoryTaint"]);
  const begun = { status: "idle", holderRunId: null, runCount: 0, version: 1 } as const;
  const times = { createdAt: now, updatedAt: now };
  return { ...NEW, ...given, ...begun, ...times, memoryTaint: taint };
}
