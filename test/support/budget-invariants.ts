// Invariant of budgets: at no event has a log more starts of nodes than the budget of its run covered then.
import type { LoggedFact } from "@pawl/core/log/event";
import type { RunState } from "@pawl/core/log/state";
import { isUndo } from "@pawl/core/log/undo-iteration";

/** A compensation may start although the budget is used up. What a child run used counts for the node that waited for it. */
export function checkBudget(
  { budget }: RunState,
  events: readonly LoggedFact[],
  report: (seq: number, rule: string) => void,
): void {
  if (budget?.executions === undefined) return;
  let limit = budget.executions - events.reduce((sum, event) => sum + raisedBy(event), 0);
  let started = 0;
  for (const event of events) {
    const { seq, type, iteration, payload } = event;
    limit += raisedBy(event);
    if ("reused" in payload && payload.reused !== undefined) continue;
    const before = started;
    if (type === "node.started" && !isUndo(iteration)) started += 1;
    if ("usage" in payload) started += payload.usage?.executions ?? 0;
    if (started > limit && started > before)
      report(seq, `${started} nodes started with a budget of ${limit}`);
  }
}

const raisedBy = (event: LoggedFact): number =>
  event.type === "run.budget.raised" ? (event.payload.executions ?? 0) : 0;
