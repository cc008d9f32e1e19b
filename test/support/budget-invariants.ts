// Invariant of budgets: no log has more starts of nodes than the budget of its run covers.
import type { LoggedFact } from "@pawl/core/log/event";
import type { RunState } from "@pawl/core/log/state";
import { isUndo } from "@pawl/core/log/undo-iteration";

/** A compensation may start although the budget is used up. What a child run used counts for the node that waited for it. */
export function checkBudget(
  { budget, lastSeq }: RunState,
  events: readonly LoggedFact[],
  report: (seq: number, rule: string) => void,
): void {
  const limit = budget?.executions;
  if (limit === undefined) return;
  let started = 0;
  for (const { type, iteration, payload } of events) {
    if ("reused" in payload && payload.reused !== undefined) continue;
    if (type === "node.started" && !isUndo(iteration)) started += 1;
    if ("usage" in payload) started += payload.usage?.executions ?? 0;
  }
  if (started > limit) report(lastSeq, `${started} nodes started with a budget of ${limit}`);
}
