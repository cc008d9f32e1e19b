// Claims for room that is still free: jobs come out of the queue in the same transaction that leases them.
//
// A job is only a hint that a node waits. It is dropped when the log says otherwise, and only on a fresh fold: another
// scheduler may have queued the node since this one last looked, and a dropped job would leave that node stuck.

import { executionAt } from "@pawl/core/log/execution";
import { GLUE, type Job, PENDING_RUNS } from "@pawl/platform/queue/queue";
import type { Transaction } from "@pawl/platform/store/tick/journal";
import type { CachedRun } from "../commit/cache.ts";
import type { Draft } from "../commit/draft.ts";
import { isLimited } from "../commit/slots.ts";
import { handOff, jobOf } from "./place.ts";
import type { Execution } from "../commit/run-draft.ts";
import type { DecideParts } from "./parts.ts";

/** Jobs taken per type and tick, so that one tick's work stays bounded. */
const FETCH_MAX = 128;

/** When a job is looked at again whose run waits aside. */
export const ASIDE_MS = 500;

export const grantOf = (job: Job): { readonly isGranted?: true } =>
  job.isGranted === true ? { isGranted: true } : {};

/** Queues that need no executor: runs that may begin, and glue nodes. */
const SERVED_HERE: ReadonlySet<string> = new Set([PENDING_RUNS, GLUE]);

/** Types of which jobs may wait that this scheduler could take now. */
export const claimableTypes = ({
  waiting,
  executors,
  pauses: { current },
}: Pick<DecideParts, "waiting" | "executors" | "pauses">) =>
  waiting.types.filter(
    (type) => SERVED_HERE.has(type) || (executors.credit(type) > 0 && !current.isQueuePaused(type)),
  );

/** What is being committed, what comes out of the queues, and how much of it at most. */
export interface Claiming {
  readonly draft: Draft;
  readonly claims: Draft;
  readonly claimMax: number;
}

/** A job that came out of its queue, and the execution that it delivers. */
interface Claimable {
  readonly job: Job;
  readonly execution: Execution;
}

/** Takes jobs out of a queue and gives those whose execution still waits to be claimed; the others are dropped. */
export async function fetchClaimable(
  parts: DecideParts,
  tx: Transaction,
  { draft, claims }: Claiming,
  type: string,
  count: number,
): Promise<Claimable[]> {
  const jobs = await tx.fetch(type, count);
  if (jobs.length < count) parts.waiting.emptied(type);
  // The compare-and-swap of this transaction proves the runs that it has advanced; the cached folds of others may be stale.
  const find = (job: Job): CachedRun | undefined =>
    draft.run(job.runId) ?? parts.cache.get(job.runId);
  const others = jobs.filter((job) => !draft.has(job.runId));
  await parts.cache.ensure(others.map((job) => job.runId));
  const doubtful = others.filter((job) => !isClaimable(find(job), job)).map((job) => job.runId);
  if (doubtful.length > 0) await parts.cache.refresh(doubtful.filter((id) => !claims.has(id)));
  return jobs.flatMap((job) => {
    const run = find(job);
    const nodeIndex = run?.state.graph.indexOf.get(job.nodeId);
    if (run === undefined || nodeIndex === undefined || !isClaimable(run, job)) return [];
    return [{ job, execution: { run, nodeIndex, iteration: job.iteration } }];
  });
}

export async function claimWaiting(
  parts: DecideParts,
  tx: Transaction,
  claiming: Claiming & { readonly type: string },
): Promise<void> {
  const { claims, claimMax, type } = claiming;
  const count = Math.min(FETCH_MAX, claimMax, parts.executors.credit(type));
  if (count === 0) return;
  for (const { job, execution } of await fetchClaimable(parts, tx, claiming, type, count)) {
    const { run, nodeIndex } = execution;
    if (parts.aside.has(job.runId)) {
      claims.jobs.push({ ...jobOf(execution, ASIDE_MS), ...grantOf(job) });
      continue;
    }
    const found = executionAt(run.state, nodeIndex, job.iteration);
    // It waited for its time only; now it waits for its slots.
    if (found !== undefined && isLimited(found) && job.isGranted !== true) {
      claims.slots.ask(run, found, jobOf(execution, 0));
      continue;
    }
    if (handOff(claims, parts.executors, execution)) continue;
    claims.jobs.push({ ...jobOf(execution, 0), ...grantOf(job) });
    parts.waiting.enqueued(type);
  }
}

/** Whether the execution of a job still waits to be claimed. */
export function isClaimable(run: CachedRun | undefined, job: Job): boolean {
  const nodeIndex = run?.state.graph.indexOf.get(job.nodeId);
  if (run === undefined || nodeIndex === undefined || run.state.status === "paused") return false;
  const execution = executionAt(run.state, nodeIndex, job.iteration);
  return execution?.status === "queued" && execution.attempt === job.attempt;
}
