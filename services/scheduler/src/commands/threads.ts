// Creates, edits, forks and deletes threads. A thread that a run creates is made by the tick that accepts the run.
//
// `store/threads` names the race of a deletion with starts. Race: a run ends while a user forks its thread: the fork has the state before or
// after, never a mixture, because the state is one row. Race: a client repeats a request whose answer it lost. The thread has the id of the
// request that created it, so the repeat gets this thread.

import { canonicalJson } from "@pawl/core/definition/canonical";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { fold } from "@pawl/core/log/fold";
import { leftBy } from "@pawl/core/log/thread";
import { isForeignKeyViolation } from "@pawl/platform/db/failure";
import type {
  NewThread,
  ThreadRecord,
  Threads,
  ThreadState,
} from "@pawl/platform/store/threads/threads";
import {
  type parseCreateThread,
  type parseDeleteThread,
  type parseFork,
  type parseUpdateThread,
  type StateAt,
  threadExists,
  threadNotFound,
} from "@pawl/platform/wire/thread";
import { assistantNotFound } from "@pawl/platform/wire/assistant";
import { runNotFound } from "@pawl/platform/wire/run";
import { namedValues } from "../commit/threads.ts";
import { threadBusy } from "../decide/thread.ts";
import { uuidOfText, uuidV7 } from "../run-id.ts";
import { deleteWithRuns } from "./delete-with-runs.ts";
import type { AdmitParts } from "./parts.ts";

export interface ThreadCommandParts extends AdmitParts {
  readonly threads: Threads;
}

const FRESH = { memory: "{}", memoryTaint: null, output: null, forkedFrom: null, sha256s: [] };

/** @throws THREAD_EXISTS, ASSISTANT_NOT_FOUND */
export async function createThread(
  parts: ThreadCommandParts,
  tenantId: string,
  {
    threadId,
    metadata = "{}",
    assistantId: named,
    requestId,
  }: ReturnType<typeof parseCreateThread>,
): Promise<ThreadRecord> {
  const assistantId = named === "" ? null : named;
  await checkAssistant(parts, tenantId, assistantId);
  const id = idOf(parts, threadId, requestId);
  const asked = { tenantId, threadId: id, metadata, assistantId, requestId, ...FRESH };
  return await make(parts, asked, (thread) => {
    const isNamed = thread.forkedFrom === null && thread.assistantId === assistantId;
    return isNamed && isSameJson(thread.metadata, metadata);
  });
}

/** The id of a new thread. A repeat of a request that names none gets the same. */
function idOf({ now }: ThreadCommandParts, threadId: string, requestId: string | null): string {
  if (threadId !== "") return threadId;
  return requestId === null ? uuidV7(now()) : uuidOfText(`thread ${requestId}`);
}

/** Creates a thread, or finds the one that the same request created, or that `isSame` accepts. @throws THREAD_EXISTS, ASSISTANT_NOT_FOUND */
async function make(
  { threads }: ThreadCommandParts,
  asked: NewThread,
  isSame: (thread: ThreadRecord) => boolean = () => false,
): Promise<ThreadRecord> {
  const { threadId, assistantId, forkedFrom, requestId } = asked;
  const made = await naming(assistantId, threads.create(asked));
  if (made === undefined) throw threadExists(threadId, "is being deleted");
  const { thread, isNew } = made;
  const isRepeat = requestId !== null && thread.requestId === requestId;
  if (isNew || (isRepeat && thread.forkedFrom === forkedFrom) || isSame(thread)) return thread;
  throw threadExists(threadId);
}

const isSameJson = (a: string, b: string): boolean =>
  canonicalJson(JSON.parse(a)) === canonicalJson(JSON.parse(b));

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

/** Deletes a thread with its runs. `force` cancels those that have not ended. @throws THREAD_NOT_FOUND, THREAD_BUSY */
export async function deleteThread(
  { threads, loop }: Pick<ThreadCommandParts, "threads" | "loop">,
  tenantId: string,
  { threadId, force }: ReturnType<typeof parseDeleteThread>,
): Promise<void> {
  await deleteWithRuns(threads, loop, {
    ...{ key: { tenantId, threadId }, force, reason: "its thread is deleted" },
    missing: () => threadNotFound(threadId),
    busy: (runId) => threadBusy(threadId, runId),
  });
}

/** @throws THREAD_NOT_FOUND, THREAD_EXISTS, ASSISTANT_NOT_FOUND, RUN_NOT_FOUND, CURSOR_OUT_OF_RANGE, INPUT_INVALID */
export async function forkThread(
  parts: ThreadCommandParts,
  tenantId: string,
  { threadId, at, newThreadId, metadata, requestId }: ReturnType<typeof parseFork>,
): Promise<ThreadRecord> {
  const origin = await parts.threads.find({ tenantId, threadId });
  const current = await parts.threads.stateOf({ tenantId, threadId });
  if (origin === undefined || current === undefined) throw threadNotFound(threadId);
  const state = at === undefined ? current : await stateAfter(parts, threadId, at);
  const { memory, memoryTaint, output } = state;
  return await make(parts, {
    ...{ tenantId, threadId: idOf(parts, newThreadId, requestId), requestId },
    ...{ metadata: metadata ?? origin.metadata, memory, output },
    memoryTaint: memoryTaint === null ? null : JSON.stringify(memoryTaint),
    forkedFrom: threadId,
    assistantId: origin.assistantId,
    sha256s: namedValues(state),
  });
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
  return leftBy(state);
}
