// The counters of a run: how many of its executions could run, back off, are blocked or wait for a child run. From them follow the status of
// the run and the planner's decision that it waits.

import { isActive, isBackingOff } from "./run-status.ts";
import { countWait } from "./signal.ts";
import type { NodeState, RunState } from "./state.ts";

/** Adds an execution to the run's counters by its present status, or removes it. */
export function count(
  state: RunState,
  nodeIndex: number,
  node: NodeState,
  iteration: number,
  step: 1 | -1,
): void {
  const isWhole = iteration === node.base;
  const execution = isWhole ? node : node.scope?.items[iteration - node.base - 1];
  if (execution === undefined) return;
  const { status, attempt, notBefore } = execution;
  if (isActive(status)) state.activeCount += step;
  if (isBackingOff(status, attempt, notBefore)) state.backoffCount += step;
  if (status !== "waiting") return;
  // A node that waits for its own iterations does not count as blocked. The fold counts the iterations themselves.
  if (!isWhole || node.scope === undefined) state.blockedCount += step;
  if (execution.childRunId !== undefined) state.childCount += step;
  const { wait } = execution;
  if (wait !== undefined) countWait(state, wait.name, { nodeIndex, iteration }, step);
}
