// Threads in the tick. A start joins the line of its thread, and may stop the runs before it. A run that ends gives its memory to the thread
// and the thread to the next run. Both happen in the transaction of the start and of the end.
//
// Races. Two schedulers start runs of one thread, or one starts a run while another ends the run before it. Both compare the version of
// the thread, and one decides again on what the other wrote. A user pauses a run that waits: the next one takes the thread, and the paused
// one asks again when it resumes. Its scheduler changes the version too, so it never misses a thread that becomes free meanwhile. A run that
// gives its thread up begins to wait while another one joins the line. The scheduler of the first changes the version as well. So one of the
// two sees the other, and interrupts the run that waits.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { Graph } from "@pawl/core/definition/graph";
import { LIMITS } from "@pawl/core/data/limits";
import { isFinal, type StopMode } from "@pawl/core/log/event";
import type { AcceptedStart, AskedThread } from "@pawl/core/log/start";
import { mayYield } from "@pawl/core/log/thread";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { RunId } from "@pawl/core/name/ids";
import { RUN_PLACE } from "@pawl/core/plan/place";
import { onCancel } from "@pawl/core/plan/stop";
import { isLimited } from "@pawl/core/policy/limit";
import type { Journal } from "@pawl/platform/store/tick/journal";
import type { ThreadKey } from "@pawl/platform/store/threads/threads";
import { threadExists, threadNotFound } from "@pawl/platform/wire/thread";
import type { CachedRun, RunCache } from "../commit/cache.ts";
import type { Draft } from "../commit/draft.ts";
import { type BookedThread, joinLine, leaveThread, takeThread } from "../commit/threads.ts";
import type { Input } from "../inputs/input.ts";
import { isEarly } from "./begin.ts";
import { settleStart } from "./settle.ts";

export interface ThreadParts {
  readonly cache: RunCache;
  readonly journal: Pick<Journal, "loadThreads">;
}

/** The threads that starts of a batch name. */
export const threadsOf = (inputs: readonly Input[]): ThreadKey[] =>
  inputs.flatMap((input) =>
    input.kind === "start" && input.start.thread !== undefined
      ? [{ tenantId: input.start.tenantId, threadId: input.start.thread.threadId }]
      : [],
  );

/** Reads threads that the tick does not know, and the runs that hold them or wait for them. */
export async function readThreads(
  { cache, journal }: ThreadParts,
  draft: Draft,
  keys: readonly ThreadKey[],
  earlier?: Draft,
): Promise<void> {
  const byId = new Map(keys.map((key) => [`${key.tenantId}\n${key.threadId}`, key]));
  const asked = [...byId.values()].filter((key) => draft.threads.find(key) === undefined);
  if (asked.length === 0) return;
  const loaded = await journal.loadThreads(asked);
  draft.threads.keep(asked, loaded);
  const runIds = loaded
    .flatMap(({ holderRunId, waiting }) => [
      ...(holderRunId === null ? [] : [holderRunId]),
      ...waiting.map(({ runId }) => runId),
    ])
    .filter((runId) => !draft.has(runId) && earlier?.has(runId) !== true);
  await cache.ensure(runIds);
  // Another scheduler may have resumed a run meanwhile.
  const mayBeOld = (runId: RunId): boolean => {
    const state = cache.get(runId)?.state;
    if (state === undefined) return false;
    const isHolder = loaded.some(({ holderRunId }) => holderRunId === runId);
    const yields = isHolder && state.thread?.yields === true && !mayYield(state);
    return state.status === "paused" || yields;
  };
  await cache.refresh(runIds.filter(mayBeOld));
}

type StartOnThread = AcceptedStart & { readonly thread: AskedThread };

/**
 * Drafts a new run of a thread, which the tick has read. @throws THREAD_NOT_FOUND, THREAD_BUSY, THREAD_EXISTS if it is being deleted
 */
export function startOnThread(
  { cache }: Pick<ThreadParts, "cache">,
  draft: Draft,
  graph: Graph,
  start: StartOnThread,
): CachedRun {
  const { tenantId, runId, thread: asked } = start;
  const { threadId, isCreated } = asked;
  const thread = draft.threads.get({ tenantId, threadId });
  if (!thread.exists && !isCreated) throw threadNotFound(threadId);
  if (thread.isDeleted) throw threadExists(threadId, "is being deleted");
  makeRoom(cache, draft, thread, start);
  thread.exists = true;
  const position = joinLine(thread, runId);
  const run = settleStart(draft, graph, { ...start, thread: { ...asked, position } });
  yieldThread(cache, draft, thread);
  giveThread(cache, draft, thread);
  return run;
}

/** Makes room for a new run as its strategy says. Runs that wait for their time are not in its way. @throws THREAD_BUSY */
function makeRoom(
  cache: RunCache,
  draft: Draft,
  thread: BookedThread,
  { thread: { strategy }, startAt }: StartOnThread,
): void {
  const { threadId, holderRunId, waiting } = thread;
  const isDue = (runId: RunId): boolean => {
    const run = draft.run(runId) ?? cache.get(runId);
    return run === undefined || !isEarly(draft, run);
  };
  const lined = waiting.map(idOf).filter(isDue);
  const live = [...(holderRunId === null ? [] : [holderRunId]), ...lined];
  const isOffered = holderOf(cache, draft, thread) !== undefined;
  const [first] = isOffered ? lined : live;
  if (first !== undefined && strategy === "reject") throw threadBusy(threadId, first);
  const waits = startAt !== undefined || (first !== undefined && strategy === "enqueue");
  const [next] = waiting;
  if (waits && next !== undefined && waiting.length >= LIMITS.threadWaiting) {
    const why = `${waiting.length} runs wait for it, and no more may`;
    throw threadBusy(threadId, first ?? next.runId, why);
  }
  if (strategy === "reject" || strategy === "enqueue") return;
  // A start that is refused changes nothing: no run is stopped before it is certain that all of them can be.
  const runs = live.map((runId) => {
    const run = draft.run(runId) ?? cache.get(runId);
    if (run === undefined || cache.quarantineOf(runId) !== undefined)
      throw threadBusy(threadId, runId, `run ${runId} is in quarantine`);
    return run;
  });
  for (const run of runs) stopRun(draft, thread, run, strategy);
}

const idOf = ({ runId }: { readonly runId: RunId }): RunId => runId;

export const threadBusy = (
  threadId: string,
  runId: RunId,
  why = `run ${runId} has not ended`,
): EngineError =>
  new EngineError("THREAD_BUSY", `Thread ${threadId} is busy: ${why}.`, {
    metadata: { thread_id: threadId, run_id: runId },
  });

/** Stops a run for the next one. A run that undoes its nodes holds the thread until it is done. */
function stopRun(draft: Draft, thread: BookedThread, run: CachedRun, stop: StopMode): void {
  const reason =
    stop === "interrupt" ? "interrupted by the next run" : "rolled back by the next run";
  const why = { reason, requestId: "", stop, stopsUndoing: false, now: draft.now };
  const result = onCancel(run.state, why);
  // Another scheduler has ended the run: the version of the thread shows it, and this tick decides again.
  if (result.kind === "finished") thread.isChanged = true;
  else for (const fact of result.facts) draft.append(run, fact);
  if (isFinal(run.state.status)) leaveThread(thread, run.state);
}

/** The run that holds a thread and gives it up if another run wants it. */
function holderOf(
  cache: RunCache,
  draft: Draft,
  { holderRunId }: BookedThread,
  earlier?: Draft,
): CachedRun | undefined {
  if (holderRunId === null || cache.quarantineOf(holderRunId) !== undefined) return undefined;
  const run = draft.run(holderRunId) ?? earlier?.run(holderRunId) ?? cache.get(holderRunId);
  return run !== undefined && mayYield(run.state) ? run : undefined;
}

/** Interrupts the run that holds a thread, if it gives the thread up and another run can begin. */
function yieldThread(cache: RunCache, draft: Draft, thread: BookedThread, earlier?: Draft): void {
  const holder = holderOf(cache, draft, thread, earlier);
  if (holder === undefined || nextOf(cache, draft, thread, earlier) === undefined) return;
  stopRun(draft, thread, holder, "interrupt");
}

/** The first run of the line that is not paused and whose time has come. */
const nextOf = (
  cache: RunCache,
  draft: Draft,
  { waiting }: BookedThread,
  earlier?: Draft,
): CachedRun | undefined =>
  waiting
    .filter(({ runId }) => cache.quarantineOf(runId) === undefined)
    .map(({ runId }) => draft.run(runId) ?? earlier?.run(runId) ?? cache.get(runId))
    .find((run) => run?.state.status === "pending" && !isEarly(draft, run));

/** Gives a free thread to the next run of its line. A run that ends at once gives it to the one behind. */
function giveThread(cache: RunCache, draft: Draft, thread: BookedThread, earlier?: Draft): void {
  while (thread.holderRunId === null) {
    const next = nextOf(cache, draft, thread, earlier);
    if (next === undefined) return;
    takeThread(thread, next.state.runId);
    beginOn(draft, thread, next);
    if (isFinal(next.state.status)) leaveThread(thread, next.state);
  }
}

/** A run takes the thread with its memory. A run without limits begins. */
function beginOn(draft: Draft, { threadId, state }: BookedThread, run: CachedRun): void {
  const { memory, memoryTaint, stateRunId } = state;
  const payload = {
    threadId,
    ...(stateRunId === null ? {} : { fromRunId: stateRunId }),
    ...(memoryTaint === null ? {} : { taint: memoryTaint }),
  };
  draft.assumesPauses = true;
  draft.append(run, { ...RUN_PLACE, type: "run.thread.taken", payload, value: memory });
  if (isLimited(run.state)) return;
  const begun = { from: "pending", to: "running" } as const;
  draft.append(run, { ...RUN_PLACE, type: "run.status.changed", payload: begun });
  draft.planRun(run);
}

/** Whether runs of the draft left threads, ask for one again, or offer theirs. */
export const movesThreads = ({ leavers, askers }: Draft): boolean =>
  leavers.length > 0 || askers.length > 0;

/** Takes threads from the runs that ended, and gives each to the next run. The same transaction has written the draft `earlier`. */
export async function followThreads(
  parts: ThreadParts,
  draft: Draft,
  earlier?: Draft,
): Promise<void> {
  const left = draft.leavers.splice(0);
  const asking = draft.askers.splice(0);
  await readThreads(parts, draft, [...left, ...asking].flatMap(keyOf), earlier);
  const moved = new Set<BookedThread>();
  for (const run of [...left, ...asking]) {
    const thread = keyOf(run).map((key) => draft.threads.get(key))[0];
    // A user deleted the thread with its runs.
    if (thread?.exists !== true) continue;
    if (isFinal(run.state.status)) leaveThread(thread, run.state);
    else thread.isChanged = true;
    moved.add(thread);
  }
  for (const thread of moved) {
    yieldThread(parts.cache, draft, thread, earlier);
    giveThread(parts.cache, draft, thread, earlier);
  }
}

const keyOf = ({ state: { thread } }: CachedRun): ThreadKey[] =>
  thread === undefined ? [] : [{ tenantId: DEFAULT_TENANT, threadId: thread.threadId }];
