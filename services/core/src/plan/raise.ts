// Raises of a run's budget. A raise is an event of the log. The same request id counts once. A run that paused because its budget was short
// continues with the raise; a run that a user paused stays paused.

import { LIMITS } from "../data/limits.ts";
import { isFinal, type Fact } from "../log/event.ts";
import { raiseText } from "../log/ledger.ts";
import type { RunState } from "../log/state.ts";
import { METERS, type SomeAmounts } from "../policy/budget.ts";
import { onResume } from "./pause.ts";
import { RUN_PLACE } from "./place.ts";

export interface Raise {
  readonly amounts: SomeAmounts;
  readonly requestId: string;
  readonly who: string;
  readonly reason: string;
}

export type RaiseResult =
  | { readonly kind: "accepted"; readonly facts: Fact[]; readonly resumes: boolean }
  | { readonly kind: "repeated" }
  /** The request id belongs to another raise of this run. */
  | { readonly kind: "reused" }
  | { readonly kind: "finished" }
  /** No budget of the run limits a meter that the raise names. */
  | { readonly kind: "not_limited" }
  | { readonly kind: "too_many" };

/** The facts of a raise. The planner adds the next facts. */
export function onRaise(
  state: RunState,
  raise: Raise,
  { now, mayResume }: { readonly now: number; readonly mayResume: boolean },
): RaiseResult {
  const { amounts, requestId, who, reason } = raise;
  const known = state.raises.get(requestId);
  if (known !== undefined) return { kind: known === raiseText(amounts) ? "repeated" : "reused" };
  if (isFinal(state.status)) return { kind: "finished" };
  const isLimited = METERS.every(
    (meter) => amounts[meter] === undefined || state.budget?.[meter] !== undefined,
  );
  if (!isLimited) return { kind: "not_limited" };
  if (state.raises.size >= LIMITS.budgetRaises) return { kind: "too_many" };
  const payload = { ...amounts, requestId, who, reason };
  const raised: Fact = { ...RUN_PLACE, type: "run.budget.raised", payload };
  if (state.pause?.waitingFor !== "budget" || !mayResume)
    return { kind: "accepted", facts: [raised], resumes: false };
  const resumed = onResume(state, { scope: "run", who, reason }, now);
  const facts = resumed.kind === "accepted" ? resumed.facts : [];
  return { kind: "accepted", facts: [raised, ...facts], resumes: true };
}
