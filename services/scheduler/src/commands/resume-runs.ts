// Finds forgotten work: a queued node without a job, a running node without a lease, or a node that waits for a child run that has ended.
// Every transition writes all of these in one transaction. So this code finds something only after a user deleted rows, after a partial
// restore, or after a quarantine. It reads the log and submits its findings to the tick. The tick judges them on its fold and by its
// compare-and-swap.
//
// Race: an executor claims a node, or the node ends, between the reads of its log, its job and its lease. The tick then finds another seq
// of the queueing or another epoch of the claim, and changes nothing.

import { isFinal } from "@pawl/core/log/event";
import { executionDefinition, executionsOf } from "@pawl/core/log/execution";
import { newExecutionState, type ExecutionState, type RunState } from "@pawl/core/log/state";
import type { NodeId, RunId } from "@pawl/core/name/ids";
import { isInlineKind } from "@pawl/core/plan/inline";
import { nodeIdAt } from "@pawl/core/plan/place";
import { type DroppedJob, GLUE, PENDING_RUNS } from "@pawl/platform/queue/queue";
import type { Journal } from "@pawl/platform/store/tick/journal";
import type { Recovery } from "@pawl/platform/store/recovery/recovery";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Definitions } from "../commit/definitions.ts";
import { NO_NODE } from "../commit/slots.ts";
import { loadRuns } from "../commit/load-run.ts";
import type { TickLoop } from "../tick/loop.ts";
import type { MarkRun } from "../inputs/quarantine.ts";

/** A position behind every event. The read gives a run's row without its log. */
const NO_EVENTS = Number.MAX_SAFE_INTEGER;

export interface ResumeParts {
  readonly journal: Journal;
  readonly definitions: Definitions;
  readonly recovery: Recovery;
  readonly loop: TickLoop;
  readonly mark: MarkRun;
  readonly log: Logger;
}

interface Found {
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly nodeType: string;
  readonly iteration: number;
  readonly execution: ExecutionState;
  /** Whether the scheduler may complete the node itself. */
  readonly isInline: boolean;
}

/** Repairs forgotten work of these runs. Returns the number of executions. @throws STORE_UNAVAILABLE */
export async function resumeRuns(parts: ResumeParts, runIds: readonly RunId[]): Promise<number> {
  const states: RunState[] = [];
  for (const found of await loadRuns(parts, runIds)) {
    if (found.kind === "corrupt" && !found.run.hasEnded)
      void parts.mark(found.run.runId, {
        reason: "EVENT_LOG_CORRUPTION",
        detail: found.fault.message,
      });
    const isStill = found.kind === "folded" && found.state.status === "paused";
    if (found.kind === "folded" && !isFinal(found.state.status) && !isStill)
      states.push(found.state);
  }
  const all = states.flatMap(foundIn);
  const counts = await Promise.all([
    resend(parts, [...all, ...states.flatMap(pendingRun)]),
    takeBack(parts, all),
    relink(parts, states, all),
  ]);
  const count = counts.reduce((sum, each) => sum + each, 0);
  if (count > 0) METRICS.strandedResent.add(count);
  return count;
}

const foundIn = (state: RunState): Found[] =>
  [...executionsOf(state)].map(([index, iteration, execution]) => ({
    runId: state.runId,
    nodeId: nodeIdAt(state, index),
    nodeType: executionDefinition(state, index, iteration).type,
    iteration,
    execution,
    isInline: isInlineKind(state, index, iteration),
  }));

/** A run that has not begun counts as a queued node: it waits for a slot, or has a job. */
const pendingRun = ({ runId, isAdmitted }: RunState): Found[] =>
  isAdmitted
    ? []
    : [
        {
          runId,
          nodeId: NO_NODE,
          nodeType: PENDING_RUNS,
          iteration: 0,
          execution: { ...newExecutionState(), status: "queued", attempt: 1 },
          isInline: false,
        },
      ];

/** Places queued executions without a job again. */
async function resend(parts: ResumeParts, all: readonly Found[]): Promise<number> {
  const queued = new Map<DroppedJob, Found>();
  for (const found of all) {
    const { runId, nodeId, nodeType, iteration, execution } = found;
    if (execution.status === "queued")
      queued.set({ runId, nodeId, nodeType, iteration, attempt: execution.attempt }, found);
  }
  const absent = await parts.recovery.missingJobs([...queued.keys()]);
  // A glue node may wait in the queue of its type or in that of glue nodes.
  const asGlue = new Map(
    absent.flatMap((job) =>
      queued.get(job)?.isInline === true ? [[{ ...job, nodeType: GLUE }, job]] : [],
    ),
  );
  const elsewhere = new Set(asGlue.values());
  for (const job of await parts.recovery.missingJobs([...asGlue.keys()]))
    elsewhere.delete(asGlue.get(job) ?? job);
  const missing = absent.filter((job) => !elsewhere.has(job));
  const byRun = Map.groupBy(missing, (job) => job.runId);
  for (const [runId, jobs] of byRun) {
    const executions = jobs.map((job) => ({
      nodeId: job.nodeId,
      iteration: job.iteration,
      queuedSeq: queued.get(job)?.execution.causeSeq ?? 0,
    }));
    parts.log.warn({ run_id: runId, count: jobs.length }, "nodes were queued and in no queue");
    await parts.loop.ask((answer) => ({ kind: "resend", runId, executions, answer }));
  }
  return missing.length;
}

/** Takes back running executions without a lease. */
async function takeBack(parts: ResumeParts, all: readonly Found[]): Promise<number> {
  const running = all.filter(({ execution }) => execution.status === "running");
  if (running.length === 0) return 0;
  const leases = await parts.recovery.leasesOfRuns([...new Set(running.map((each) => each.runId))]);
  const nameOf = (each: { runId: RunId; nodeId: NodeId; iteration: number }): string =>
    `${each.runId} ${each.nodeId} ${each.iteration}`;
  const leased = new Set(leases.map(nameOf));
  const lost = running.filter((each) => !leased.has(nameOf(each)));
  for (const { runId, nodeId, iteration, execution } of lost) {
    const claim = { runId, nodeId, iteration, epoch: execution.epoch };
    parts.log.warn({ run_id: runId, node_id: nodeId }, "a node ran without a lease");
    const { executorId } = execution;
    if (executorId === undefined) continue;
    // The executor did not lose the claim, so the loss costs no delivery.
    const about = { claim, reason: "released", executorId } as const;
    await parts.loop.ask((answer) => ({ kind: "lost", ...about, answer }));
  }
  return lost.length;
}

/** Repairs executions whose child run has ended, and child runs whose parent has ended. */
async function relink(
  parts: ResumeParts,
  states: readonly RunState[],
  all: readonly Found[],
): Promise<number> {
  const children = all.flatMap(({ execution }) => execution.childRunId ?? []);
  const parents = states.flatMap(({ parent }) => parent?.runId ?? []);
  const ids = [...new Set([...children, ...parents])];
  const rows = await parts.journal.load(ids.map((runId) => ({ runId, afterSeq: NO_EVENTS })));
  const over = new Set(rows.filter((row) => row.hasEnded).map((row) => row.runId));
  const ended = children.filter((runId) => over.has(runId));
  for (const runId of ended) await parts.loop.ask((answer) => ({ kind: "relink", runId, answer }));
  // A child run that is compensated ends by itself. Another cancel would stop that.
  const orphans = states.filter(
    ({ parent, ending }) => parent !== undefined && over.has(parent.runId) && ending === undefined,
  );
  for (const { runId } of orphans)
    await parts.loop.ask((answer) => ({
      kind: "cancel",
      runId,
      reason: "the parent run is over",
      requestId: "",
      answer,
    }));
  return ended.length + orphans.length;
}
