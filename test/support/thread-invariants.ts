// Invariants of threads at every moment: a thread is busy while a live run holds it, and only then. Every live run of a thread holds it or is in
// its line, and the state of the thread is what its last run left.
import { isFinal } from "@pawl/core/log/event";
import { memoryOf } from "@pawl/core/log/thread";
import type { RunState } from "@pawl/core/log/state";

export type ThreadSeen = {
  readonly runId: string;
  readonly threadId: string;
  readonly state: "waiting" | "holding" | "over";
  readonly position: number;
  readonly rowThreadId: string | null;
  readonly stop: string | null;
  readonly status: string;
  readonly holderRunId: string | null;
  readonly stateRunId: string | null;
  readonly memory: string;
};

/** The runs of threads, each with its thread. */
export const THREADS = `
select l.run_id as "runId", l.thread_id as "threadId", l.state, l.position::float8 as position, r.thread_id as "rowThreadId", r.stop,
  t.status, t.holder_run_id as "holderRunId", t.state_run_id as "stateRunId", t.memory::text as memory
from pawl.thread_runs l
join pawl.threads t using (tenant_id, thread_id)
join pawl.runs r using (run_id)
where $1::uuid[] is null or l.run_id = any ($1)`;

/** Threads whose status and holder contradict the order of their runs. */
export const THREAD_FAULTS = `
select t.thread_id as "threadId", t.status, count(l.run_id) filter (where l.state = 'holding')::integer as holding,
  count(l.run_id) filter (where l.state = 'waiting' and r.status = 'pending' and r.quarantined_at is null)::integer as waiting
from pawl.threads t
left join pawl.thread_runs l using (tenant_id, thread_id)
left join pawl.runs r on r.run_id = l.run_id
where $1::uuid[] is null or l.run_id = any ($1)
group by t.tenant_id, t.thread_id
having (t.status = 'busy') <> (count(l.run_id) filter (where l.state = 'holding') = 1 and t.holder_run_id is not null)`;

export type ThreadFault = {
  readonly threadId: string;
  readonly status: string;
  readonly holding: number;
  readonly waiting: number;
};

export const faultOfThread = ({ threadId, status, holding }: ThreadFault): string =>
  `thread ${threadId} is ${status} with ${holding} holders`;

/** Whether the run waits for a thread; reports rows that contradict the log. */
export function checkThread(
  state: RunState,
  seen: ThreadSeen | undefined,
  report: (seq: number, rule: string) => void,
): boolean {
  const { lastSeq, thread, isThreadTaken, stop } = state;
  if (thread?.threadId !== seen?.threadId || thread?.position !== seen?.position)
    report(lastSeq, `the log names thread ${thread?.threadId}, its row ${seen?.threadId}`);
  if (seen === undefined) return false;
  if (seen.rowThreadId !== seen.threadId) report(lastSeq, "the run's row names another thread");
  if ((stop ?? null) !== seen.stop) report(lastSeq, `the row is stopped by ${seen.stop}`);
  const due = isFinal(state.status) ? "over" : isThreadTaken ? "holding" : "waiting";
  if (seen.state !== due) report(lastSeq, `the run is ${seen.state} in its thread, not ${due}`);
  if ((seen.holderRunId === seen.runId) !== (due === "holding"))
    report(lastSeq, `thread ${seen.threadId} is held by ${seen.holderRunId}`);
  if (seen.stateRunId === seen.runId && memoryOf(state).json !== seen.memory)
    report(lastSeq, `thread ${seen.threadId} has another memory than its last run left`);
  return due === "waiting" && seen.holderRunId !== null;
}
