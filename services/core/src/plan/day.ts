// The daily budget of a workflow, which all its runs share. A run reserves its own budget of the day before it begins, in the transaction that
// takes it out of the queue of pending runs. Its end settles: the day gets back what the run did not use. So parallel runs cannot pass the
// budget of a day together. The row of the day is in the store; this file only decides.
//
// A run that does not fit now waits as long as other runs may settle below their reservation. A run that needs more than the day has left never
// fits on that day: it fails or pauses, as its budget says.

import type { Fact } from "../log/event.ts";
import { spentOf } from "../log/ledger.ts";
import type { RunState } from "../log/state.ts";
import { type Amounts, amountText, METERS, type SomeAmounts, whole } from "../policy/budget.ts";
import { exceededFacts } from "./funds.ts";
import { RUN_PLACE } from "./place.ts";

/** The row of a day as the store found it, before the run reserved anything. */
export interface DayAnswer {
  readonly day: string;
  readonly isGranted: boolean;
  /** What runs that have ended used. */
  readonly spent: Amounts;
}

/** What a run reserves of the daily budget of its workflow: its own budget. Undefined if the workflow has none. */
export function dayNeed({ daily, budget }: RunState): SomeAmounts | undefined {
  if (daily === undefined) return undefined;
  return Object.fromEntries(
    METERS.flatMap((meter) => {
      const limit = daily[meter];
      return limit === undefined ? [] : [[meter, budget?.[meter] ?? limit]];
    }),
  );
}

/** The facts that begin a pending run, or that fail or pause it. Empty if it waits for other runs of the day. */
export function onTurn(
  state: RunState,
  answer: DayAnswer | undefined,
  now: number,
): readonly Fact[] {
  const reserved = dayNeed(state);
  if (reserved === undefined || answer === undefined || answer.isGranted) {
    const dayFunds = reserved && answer && { dayFunds: { day: answer.day, reserved } };
    const payload = { from: "pending", to: "running", ...dayFunds } as const;
    return [{ ...RUN_PLACE, type: "run.status.changed", payload }];
  }
  const { day, spent } = answer;
  for (const meter of METERS) {
    const limit = state.daily?.[meter];
    const need = reserved[meter] ?? 0;
    if (limit === undefined || need <= limit - spent[meter]) continue;
    const left = amountText(meter, Math.max(0, limit - spent[meter]));
    const has = `the budget of ${amountText(meter, limit)} for ${day} has ${left} left`;
    const message = `${has}, and one run reserves ${amountText(meter, need)}`;
    return exceededFacts(state, { message }, now);
  }
  return [];
}

/** What a run that has ended gives back to its day, and what it used. Undefined if it reserved nothing. */
export function daySettlement({ dayFunds, ledger }: RunState) {
  if (dayFunds === undefined) return undefined;
  const { day, reserved } = dayFunds;
  return { day, freed: whole(reserved), used: spentOf(ledger) };
}
