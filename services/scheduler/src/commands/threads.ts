// Creates, edits, forks and deletes threads. A thread that a run creates is made by the tick that accepts the run.
//
// Race: a run starts on a thread while a user deletes it. The deletion locks the thread and looks for live runs; the start compares the
// version. So either the thread is gone and the start finds none, or the deletion finds the run. Race: a run ends while a user forks its
// thread: the fork has the state before or after, never a mixture, because the state is one row.

import { canonicalJson } from "@pawl/core/definition/canonical";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { fold } from "@pawl/core/log/fold";
import { memoryOf } from "@pawl/core/log/thread";
import { isForeignKeyViolation } from "@pawl/platform/db/failure";
import type { ThreadRecord, Threads, ThreadState } from "@pawl/platform/store/threads/threads";
import type {
  parseCreateThread,
  parseDeleteThread,
  parseFork,
  parseUpdateThread,
  StateAt,
} from "@pawl/platform/wire/thread";
import { namedValues } from "../commit/threads.ts";
import { threadBusy, threadNotFound } from "../decide/thread.ts";
import { runNotFound } from "../inputs/errors.ts";
import { uuidV7 } from "../run-id.ts";
import type { AdmitParts } from "./parts.ts";
import { assistantNotFound } from "./resolve-start.ts";

export interface ThreadCommandParts extends AdmitParts {
  readonly threads: Threads;
}

const FRESH = { memory: "{}", memoryTaint: null, output: null, forkedFrom: null, sha256s: [] };

/** @throws THREAD_EXISTS, ASSISTANT_NOT_FOUND */
export async function createThread(
  parts: ThreadCommandParts,
  tenantId: string,
  { threadId, metadata = "{}", assistantId: named }: ReturnType<typeof parseCreateThread>,
): Promise<ThreadRecord> {
  const { threads, now } = parts;
  const assistantId = named === "" ? null : named;
  await checkAssistant(parts, tenantId, assistantId);
  const id = threadId === "" ? uuidV7(now()) : threadId;
  const asked = { tenantId, threadId: id, metadata, assistantId, ...FRESH };
  const { thread, isNew } = await naming(assistantId, threads.create(asked));
  const isNamed = thread.forkedFrom === null && thread.assistantId === assistantId;
  const isSame = isNamed && isSameJson(thread.metadata, metadata);
  if (isNew || isSame) return thread;
  throw threadExists(id);
}

const isSameJson = (a: string, b: string): boolean =>
  canonicalJson(JSON.parse(a)) === canonicalJson(JSON.parse(b));

const threadExists = (threadId: string): EngineError =>
  new EngineError("THREAD_EXISTS", `There is a thread ${threadId} already.`, {
    metadata: { thread_id: threadId },
  });

/** @throws ASSISTANT_NOT_FOUND */
async function checkAssistant(
  { assistants }: ThreadCommandParts,
  tenantId: string,
  assistantId: string | null,
): Promise<void> {
  if (assistantId === null || assistantId === "") return;
  const found = await assistants.find({ tenantId, assistantId });
  if (found === undefined) throw assistantNotFound(assistantId);
}

/** A user may delete the assistant before the thread names it. @throws ASSISTANT_NOT_FOUND */
async function naming<T>(assistantId: string | null, write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    throw isForeignKeyViolation(error) ? assistantNotFound(assistantId ?? "") : error;
  }
}

/** @throws THREAD_NOT_FOUND, ASSISTANT_NOT_FOUND */
export async function updateThread(
  parts: ThreadCommandParts,
  tenantId: string,
  { threadId, edit }: ReturnType<typeof parseUpdateThread>,
): Promise<ThreadRecord> {
  await checkAssistant(parts, tenantId, edit.assistantId);
  const update = parts.threads.update({ tenantId, threadId }, edit);
  const thread = await naming(edit.assistantId, update);
  if (thread === undefined) throw threadNotFound(threadId);
  return thread;
}

/** How often a forced deletion cancels runs that were started meanwhile. */
const CANCELS_MAX = 5;

/** Deletes a thread with its runs. `force` cancels those that have not ended. @throws THREAD_NOT_FOUND, THREAD_BUSY */
export async function deleteThread(
  { threads, loop }: ThreadCommandParts,
  tenantId: string,
  { threadId, force }: ReturnType<typeof parseDeleteThread>,
): Promise<void> {
  const key = { tenantId, threadId };
  for (let round = 0; ; round++) {
    const result = await threads.remove(key);
    if (result === "removed") return;
    if (result === "missing") throw threadNotFound(threadId);
    const live = await threads.liveRuns(key);
    const [first] = live;
    if (first === undefined) continue;
    if (!force || round === CANCELS_MAX) throw threadBusy(threadId, first);
    const why = { reason: "its thread is deleted", requestId: "", compensate: false };
    // The newest first: a run that is cancelled gives the thread to no other.
    for (const runId of live.toReversed())
      await loop.ask((answer) => ({ kind: "cancel", runId, ...why, answer }));
  }
}

/** @throws THREAD_NOT_FOUND, THREAD_EXISTS, RUN_NOT_FOUND, INPUT_INVALID */
export async function forkThread(
  parts: ThreadCommandParts,
  tenantId: string,
  { threadId, at, newThreadId, metadata }: ReturnType<typeof parseFork>,
): Promise<ThreadRecord> {
  const { threads, now } = parts;
  const origin = await threads.find({ tenantId, threadId });
  const current = await threads.stateOf({ tenantId, threadId });
  if (origin === undefined || current === undefined) throw threadNotFound(threadId);
  const state = at === undefined ? current : await stateAfter(parts, threadId, at);
  const { memory, memoryTaint, output } = state;
  const id = newThreadId === "" ? uuidV7(now()) : newThreadId;
  const { thread, isNew } = await threads.create({
    ...{ tenantId, threadId: id, metadata: metadata ?? origin.metadata, memory, output },
    memoryTaint: memoryTaint === null ? null : JSON.stringify(memoryTaint),
    forkedFrom: threadId,
    assistantId: origin.assistantId,
    sha256s: namedValues(state),
  });
  if (!isNew) throw threadExists(id);
  return thread;
}

/** What a run of the thread held after an event, from its log. */
async function stateAfter(
  { journal, definitions }: ThreadCommandParts,
  threadId: string,
  { runId, atSeq }: StateAt,
): Promise<ThreadState> {
  const [run] = await journal.load([{ runId, afterSeq: 0 }]);
  if (run === undefined) throw runNotFound(runId);
  if (atSeq > run.lastSeq)
    throw new EngineError(
      "CURSOR_OUT_OF_RANGE",
      `Run ${runId} has ${run.lastSeq} events, and the request names event ${atSeq}.`,
      { metadata: { run_id: runId, last_event_id: String(run.lastSeq) } },
    );
  const graph = await definitions.graph(run.definitionId);
  const events = run.events.filter(({ seq }) => atSeq === 0 || seq <= atSeq);
  const state = fold(runId, graph, events);
  if (state.thread?.threadId !== threadId)
    throw invalidField("run_id", "OTHER_THREAD", `is no run of thread ${threadId}`);
  const { json, taint = null } = memoryOf(state);
  return { memory: json, memoryTaint: taint, output: state.output ?? null, stateRunId: runId };
}
