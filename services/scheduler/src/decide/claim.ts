// Takes jobs out of the queues in the transaction that acts on them, so a killed scheduler loses none. There are three kinds of jobs: a
// node that needs an executor, a glue node that the scheduler completes itself, and a run that waited for a slot.
//
// A job is only a hint. The scheduler drops it if the log contradicts it, and only on a fresh fold. Another scheduler may have queued the
// node meanwhile, and without its job the node would be stuck.

import { executionAt } from "@pawl/core/log/execution";
import type { RunId } from "@pawl/core/name/ids";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { type DayAnswer, dayNeed, onTurn } from "@pawl/core/plan/day";
import { inlineFacts } from "@pawl/core/plan/inline";
import { isLimited } from "@pawl/core/policy/limit";
import { GLUE, type Job, PENDING_RUNS } from "@pawl/platform/queue/queue";
import type { Journal, Transaction } from "@pawl/platform/store/tick/journal";
import type { CachedRun, RunCache } from "../commit/cache.ts";
import type { Definitions } from "../commit/definitions.ts";
import type { Draft, DraftOptions } from "../commit/draft.ts";
import type { PauseView } from "../commit/pauses.ts";
import { asksForMore } from "./begin.ts";
import { pendingJob } from "../commit/slots.ts";
import { handOff, jobOf, place, type PlaceParts } from "../hand-off/place.ts";
import type { Execution } from "../commit/run-draft.ts";

/** The parts that decide about inputs and jobs. */
export interface DecideParts extends PlaceParts, DraftOptions {
  readonly cache: RunCache;
  readonly journal: Journal;
  readonly definitions: Definitions;
  readonly pauses: { readonly current: PauseView };
  /** Runs that wait aside. The tick claims no job of these runs. */
  readonly aside: { has(runId: RunId): boolean };
  /** The database's clock. All planned times use it. */
  readonly now: () => number;
}

/** The jobs that one tick takes of each node type, of glue nodes and of runs. The bound keeps a tick short. */
const FETCH_MAX = 128;
const COMPLETE_MAX = 256;
const BEGIN_MAX = 128;

/** The scheduler delays a job by this time if its run waits aside. */
const ASIDE_MS = 500;

const grantOf = (job: Job): { readonly isGranted?: true } =>
  job.isGranted === true ? { isGranted: true } : {};

/** Queues that need no executor: runs that may begin, and glue nodes. */
const SERVED_HERE: ReadonlySet<string> = new Set([PENDING_RUNS, GLUE]);

/** Types of jobs that may wait and that this scheduler could take now. */
export const claimableTypes = ({
  waiting,
  executors,
  pauses: { current },
}: Pick<DecideParts, "waiting" | "executors" | "pauses">) =>
  waiting.types.filter(
    (type) => SERVED_HERE.has(type) || (executors.credit(type) > 0 && !current.isQueuePaused(type)),
  );

/** The draft that is being committed, the draft of the jobs, and how many jobs it may take. */
interface Claiming {
  readonly draft: Draft;
  readonly claims: Draft;
  readonly claimMax: number;
}

/** A job that came out of its queue, and the execution that it delivers. */
interface Claimable {
  readonly job: Job;
  readonly execution: Execution;
}

/** Takes jobs out of a queue. Returns those whose execution still waits, and drops the others. */
async function fetchClaimable(
  parts: DecideParts,
  tx: Transaction,
  { draft, claims }: Claiming,
  type: string,
  count: number,
): Promise<Claimable[]> {
  const jobs = await tx.fetch(type, count);
  if (jobs.length < count) parts.waiting.emptied(type);
  // The compare-and-swap of this transaction proves the runs that it advances. The cached folds of other runs may be stale.
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
    // The execution waited for its time. Now it needs its slots.
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
function isClaimable(run: CachedRun | undefined, job: Job): boolean {
  const nodeIndex = run?.state.graph.indexOf.get(job.nodeId);
  if (run === undefined || nodeIndex === undefined || run.state.status === "paused") return false;
  const execution = executionAt(run.state, nodeIndex, job.iteration);
  return execution?.status === "queued" && execution.attempt === job.attempt;
}

/** Completes glue nodes whose time has come, or for which the tick that made them ready had no budget. */
export async function completeWaiting(
  parts: DecideParts,
  tx: Transaction,
  claiming: Claiming,
): Promise<void> {
  const { claims, claimMax } = claiming;
  const count = Math.min(COMPLETE_MAX, claimMax);
  for (const { job, execution } of await fetchClaimable(parts, tx, claiming, GLUE, count)) {
    const { run, nodeIndex, iteration } = execution;
    // An earlier job of this loop may have ended the run, or cancelled this node.
    if (!isClaimable(run, job)) continue;
    if (parts.aside.has(job.runId)) {
      claims.jobs.push({ ...jobOf(execution, ASIDE_MS), nodeType: GLUE });
      continue;
    }
    const round = { state: run.state, now: claims.now, budget: claims.inline };
    const facts = inlineFacts(round, nodeIndex, iteration);
    if (facts === undefined) {
      // The budget is spent, the node's queue is paused, or its context has grown. `place` queues it again.
      claims.placeAgain(run, [execution]);
      continue;
    }
    claims.assumesPauses = true;
    for (const fact of facts) claims.append(run, fact);
    claims.planRun(run);
  }
  place(claims, parts);
}

/** Starts the runs that got a slot of their workflow, and a part of its daily budget. */
export async function beginPending(
  parts: DecideParts,
  tx: Transaction,
  { draft, claims, claimMax }: Claiming,
): Promise<void> {
  const { cache, waiting } = parts;
  const count = Math.min(BEGIN_MAX, claimMax);
  const jobs = await tx.fetch(PENDING_RUNS, count);
  if (jobs.length < count) waiting.emptied(PENDING_RUNS);
  const others = jobs.map(({ runId }) => runId).filter((runId) => !draft.has(runId));
  await cache.ensure(others);
  // Another scheduler may have resumed the run meanwhile. The tick reads a paused run again before it drops the job.
  const isPaused = (runId: RunId): boolean => cache.get(runId)?.state.status === "paused";
  await cache.refresh(others.filter(isPaused));
  const turns = new Map<RunId, Turn>();
  for (const job of jobs) {
    const { runId } = job;
    const run = draft.run(runId) ?? cache.get(runId);
    // A run never becomes pending again, so an old fold is right when it shows that the run has begun or ended. A paused run has withdrawn
    // its request. The scheduler that resumes it requests the slot again.
    if (run?.state.status !== "pending" || run.state.isAdmitted) continue;
    if (parts.aside.has(runId)) {
      claims.jobs.push({ ...pendingJob(run), ...grantOf(job), delayMs: ASIDE_MS });
      continue;
    }
    if (!asksForMore(claims, run, job, parts.now())) turns.set(runId, { job, run });
  }
  const answers = await askDays(tx, draft, [...turns.values()]);
  for (const { job, run } of turns.values()) {
    const facts = onTurn(run.state, answers.get(job.runId), claims.now);
    if (facts.length === 0)
      claims.jobs.push({ ...pendingJob(run), ...grantOf(job), delayMs: turnDelayMs(run, claims) });
    for (const fact of facts) claims.append(run, fact);
    if (facts.length > 0) claims.planRun(run);
  }
  place(claims, parts);
}

/** A pending run whose job came out of the queue. */
interface Turn {
  readonly job: Job;
  readonly run: CachedRun;
}

/** A run that waits for the daily budget looks again after a fourth of its age, within these bounds. */
const TURN_MIN_MS = 1_000;
const TURN_MAX_MS = 60_000;
const turnDelayMs = ({ state }: CachedRun, { now }: Draft): number =>
  Math.min(TURN_MAX_MS, Math.max(TURN_MIN_MS, (now - state.startedAt) / 4));

/** Reserves for runs of workflows with a daily budget. The runs that this tick ends give back their part first. A test run has no such budget. */
async function askDays(
  tx: Transaction,
  { slots }: Draft,
  turns: readonly Turn[],
): Promise<ReadonlyMap<RunId, DayAnswer>> {
  const asking = turns.flatMap(({ run: { state, workflowId } }) => {
    const { runId, daily: limits } = state;
    const need = dayNeed(state);
    if (limits === undefined || need === undefined || workflowId === null) return [];
    return [{ runId, tenantId: DEFAULT_TENANT, workflowId, limits, need }];
  });
  if (asking.length === 0) return new Map();
  void tx.lock(asking.map(({ runId }) => runId));
  const answers = await tx.moveDays({ settled: slots.takeSettled(), requested: asking });
  return new Map(
    asking.flatMap(({ runId }, at) => {
      const answer = answers[at];
      return answer === undefined ? [] : [[runId, answer] as const];
    }),
  );
}
