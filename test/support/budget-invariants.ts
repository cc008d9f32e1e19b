// Invariants of budgets. At no event has a log more starts of nodes than the budget of its run covered then. At no reservation are the spent
// and the reserved amounts together more than the budget. A handler may use more than its node reserved, but only later.
import { apply, newRunState } from "@pawl/core/log/fold";
import { spentOf } from "@pawl/core/log/ledger";
import type { LoggedFact } from "@pawl/core/log/event";
import type { RunState } from "@pawl/core/log/state";
import { isUndo } from "@pawl/core/log/undo-iteration";
import { METERS } from "@pawl/core/policy/budget";

type Report = (seq: number, rule: string) => void;

export function checkBudget(state: RunState, events: readonly LoggedFact[], report: Report): void {
  if (state.budget === undefined) return;
  checkStarts(state, events, report);
  checkReservations(state, events, report);
}

/** A compensation may start although the budget is used up. What a child run used counts for the node that waited for it. */
function checkStarts({ budget }: RunState, events: readonly LoggedFact[], report: Report): void {
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

function checkReservations(
  { runId, graph }: RunState,
  events: readonly LoggedFact[],
  report: Report,
): void {
  const state = newRunState(runId, graph);
  for (const event of events) {
    apply(state, event);
    const { reserved = {} } = event.type === "node.queued" ? event.payload : {};
    for (const meter of METERS) {
      if ((reserved[meter] ?? 0) === 0) continue;
      const taken = spentOf(state.ledger)[meter] + state.ledger.reserved[meter];
      const limit = state.budget?.[meter] ?? Infinity;
      if (taken > limit)
        report(event.seq, `${taken} ${meter} spent and reserved with a budget of ${limit}`);
    }
  }
}

const raisedBy = (event: LoggedFact): number =>
  event.type === "run.budget.raised" ? (event.payload.executions ?? 0) : 0;
