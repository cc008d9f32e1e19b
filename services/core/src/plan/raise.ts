// Raises of a run's budget. A raise is an event of the log. The same request id counts once. A run that paused because its budget was short
// continues with the raise; a run that a user paused stays paused.
//
// A child run may use what its parent reserved for it. So a raise of the child beyond that also raises the parent, in the same commit, and
// the parent reserves it at once. No other node of the parent can use it.

import { LIMITS } from "../data/limits.ts";
import { isFinal, type Fact } from "../log/event.ts";
import { executionAt } from "../log/execution.ts";
import { raiseText } from "../log/ledger.ts";
import type { RunState } from "../log/state.ts";
import { METERS, type Meter, type SomeAmounts } from "../policy/budget.ts";
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

/** A child run after its raise. */
type RaisedChild = Pick<RunState, "runId" | "parent" | "budget">;

/**
 * The raise of the parent: what the child may now use beyond what the parent reserves for it. Undefined if the reservation covers the raise,
 * or if the parent does not wait for the child.
 */
export function raiseAbove(
  state: RunState,
  { runId, parent, budget }: RaisedChild,
  { amounts, requestId, who, reason }: Raise,
): { readonly raise: Raise; readonly fact: Fact } | undefined {
  const index = parent === undefined ? undefined : state.graph.indexOf.get(parent.nodeId);
  if (parent === undefined || index === undefined) return undefined;
  const { nodeId, iteration } = parent;
  const execution = executionAt(state, index, iteration);
  if (execution?.status !== "waiting" || execution.childRunId !== runId) return undefined;
  const more: Partial<Record<Meter, number>> = {};
  for (const meter of METERS) {
    const reserved = execution.reserved?.[meter] ?? 0;
    // The budgets above the child do not limit a meter that they do not reserve.
    const lacking = reserved === 0 ? 0 : (budget?.[meter] ?? 0) - reserved;
    if (amounts[meter] !== undefined && lacking > 0)
      more[meter] = Math.min(lacking, amounts[meter]);
  }
  if (Object.keys(more).length === 0) return undefined;
  // The parent may know the request id from a raise of its own.
  const raise = { amounts: more, requestId: `${runId} ${requestId}`, who, reason };
  const payload = { ...more, requestId: raise.requestId, who, reason };
  const place = { nodeId, iteration, attempt: 0, epoch: 0 };
  return { raise, fact: { ...place, type: "run.budget.raised", payload } };
}
