// Decides where a ready node goes: to a connected executor with room, or into the queue of its type. A node never overtakes other nodes of
// its type that wait, and a node that may not start yet waits in the queue. A node with limits requests its slots first; with its slots it
// is queued, and claimed from the queue. A glue node that the planner could not complete waits in the queue of glue nodes, which the
// scheduler serves itself.

import { executionAt, executionDefinition } from "@pawl/core/log/execution";
import { claimFact } from "@pawl/core/plan/claim";
import { graphNodeAt, nodeIdAt } from "@pawl/core/plan/place";
import { fitsInline } from "@pawl/core/plan/inline";
import { isLimited } from "@pawl/core/policy/limit";
import { jobPriority } from "@pawl/core/policy/priority";
import { GLUE, type NewJob } from "@pawl/platform/queue/queue";
import type { Executors } from "../commit/executor.ts";
import { assignedBytes } from "./assignment.ts";
import type { Draft } from "../commit/draft.ts";
import type { Execution } from "../commit/run-draft.ts";
import { shareOf } from "../commit/slots.ts";
import { withdrawAll } from "../commit/withdraw.ts";
import type { ExecutionState } from "@pawl/core/log/state";
import type { Waiting } from "../commit/waiting.ts";

export interface PlaceParts {
  readonly executors: Executors;
  readonly waiting: Waiting;
  /** Whether an executor with room gets a ready node at once, without the queue. */
  readonly handsOff: boolean;
}

/** Places every execution the draft made ready. */
export function place(draft: Draft, { executors, waiting, handsOff }: PlaceParts): void {
  // The planner paused the run: what is queued has no jobs while the run is paused.
  for (const run of draft.runs)
    if (run.state.pause?.waitingFor === "budget") withdrawAll(draft, run);
  const placed = new Set<ExecutionState>();
  for (const execution of draft.ready.splice(0)) {
    const { run, nodeIndex, iteration } = execution;
    const found = executionAt(run.state, nodeIndex, iteration);
    // A later fact of the same draft may have cancelled the node or paused its run. If the run was resumed, the node may be listed twice.
    if (found?.status !== "queued" || run.state.status === "paused" || placed.has(found)) continue;
    placed.add(found);
    const delayMs = Math.max(0, (found.notBefore ?? 0) - draft.now);
    if (delayMs === 0 && isLimited(found)) {
      draft.slots.ask(run, found, jobOf(execution, 0));
      continue;
    }
    if (fitsInline(run.state, nodeIndex, iteration, draft.inline)) {
      draft.jobs.push({ ...jobOf(execution, delayMs), nodeType: GLUE });
      if (delayMs === 0) waiting.enqueued(GLUE);
      continue;
    }
    const type = nodeTypeOf(execution);
    const isBlocked = waiting.mayWait(type) || draft.pauses.isQueuePaused(type);
    const mayStart = handsOff && delayMs === 0 && !isBlocked;
    if (mayStart && handOff(draft, executors, execution)) continue;
    draft.jobs.push(jobOf(execution, delayMs));
    if (delayMs === 0) waiting.enqueued(type);
  }
}

/** Claims a queued execution for an executor with room. False if no executor has room. */
export function handOff(draft: Draft, executors: Executors, execution: Execution): boolean {
  const executor = executors.pick(nodeTypeOf(execution));
  if (executor === undefined) return false;
  const { run, nodeIndex, iteration } = execution;
  const fact = claimFact(run.state, nodeIndex, iteration, executor.executorId);
  if (fact === undefined) return false;
  const bytes = assignedBytes(execution);
  draft.handOff({ run, nodeIndex, iteration, executor, bytes }, fact);
  return true;
}

export function jobOf({ run, nodeIndex, iteration }: Execution, delayMs: number): NewJob {
  const { state } = run;
  return {
    runId: state.runId,
    nodeId: nodeIdAt(state, nodeIndex),
    iteration,
    attempt: executionAt(state, nodeIndex, iteration)?.attempt ?? 1,
    nodeType: executionDefinition(state, nodeIndex, iteration).type,
    priority: jobPriority(run.priority, graphNodeAt(state, nodeIndex).definition.priority),
    share: shareOf(run),
    ...(delayMs > 0 ? { delayMs } : {}),
  };
}

const nodeTypeOf = ({ run, nodeIndex, iteration }: Execution): string =>
  executionDefinition(run.state, nodeIndex, iteration).type;
