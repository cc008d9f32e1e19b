// What a child run may use of the budgets of the run above it. The node that waits for the child run reserves it, and settles with what the
// child run used. So a run cannot pass its budget by child runs.

import { executionAt } from "../log/execution.ts";
import { type Ledger, spentOf } from "../log/ledger.ts";
import type { RunState } from "../log/state.ts";
import {
  type Amounts,
  METER_WORDS,
  METERS,
  type Meter,
  NOTHING,
  type SomeAmounts,
} from "../policy/budget.ts";
import { isBudgeted } from "./funds.ts";
import { graphNodeAt, nodeStateAt } from "./place.ts";

/**
 * What a child run may use of the budgets of its parent: the reserve of the node, or all that is left now. A fault if nothing is left.
 * Undefined if no budget limits the node.
 */
export function childFunds(
  state: RunState,
  index: number,
  iteration: number,
): { readonly reserved: SomeAmounts } | { readonly fault: string } | undefined {
  if (!isBudgeted(state, index)) return undefined;
  const { reserve = {}, budget: own = {} } = graphNodeAt(state, index).definition;
  const held = executionAt(state, index, iteration)?.reserved ?? NOTHING;
  const amounts: Partial<Record<Meter, number>> = {};
  for (const meter of METERS) {
    const lefts = [
      leftOf(state.budget ?? {}, state.ledger, held, meter),
      leftOf(own, nodeStateAt(state, index).ledger, held, meter),
    ];
    // The claim that asks for the child run counts as an execution.
    const left = Math.min(...lefts) - (meter === "executions" ? 1 : 0);
    if (left === Infinity) continue;
    const amount = Math.min(left, reserve[meter] ?? Infinity);
    if (amount < 1)
      return { fault: `the budget has no ${METER_WORDS[meter]} left for a child run` };
    amounts[meter] = amount;
  }
  return { reserved: amounts };
}

function leftOf(limits: SomeAmounts, ledger: Ledger, held: Amounts, meter: Meter): number {
  const limit = limits[meter];
  if (limit === undefined) return Infinity;
  return limit - spentOf(ledger)[meter] - ledger.reserved[meter] + held[meter];
}
