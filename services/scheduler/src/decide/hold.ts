// The end of a hold, as facts: what a person decided, or that the time for it is up. Nothing here waits.

import { isFinal } from "@pawl/core/log/event";
import { onApprovalDue, onDecision } from "@pawl/core/plan/decide";
import type { CachedRun } from "../commit/cache.ts";
import type { Draft } from "../commit/draft.ts";
import type { DecideInput, DueInput } from "../inputs/input.ts";
import type { Settled } from "./settle.ts";

/** Drafts what a person decided. Whatever is not applied is judged again on a fresh fold before it is answered. */
export function settleDecision(draft: Draft, run: CachedRun, input: DecideInput): Settled {
  const { state } = run;
  const { kind: _kind, runId: _runId, nodeId, answer, ...said } = input;
  const nodeIndex = state.graph.indexOf.get(nodeId);
  if (nodeIndex === undefined) return { kind: "doubtful", refuse: () => answer.resolve("no_node") };
  const result = onDecision(state, { ...said, nodeIndex, now: draft.now });
  if (result.kind === "accepted") {
    for (const fact of result.facts) draft.append(run, fact);
    return { kind: "drafted", reply: () => answer.resolve("accepted") };
  }
  const { kind } = result;
  const why = kind === "not_held" && isFinal(state.status) ? "finished" : kind;
  return { kind: "doubtful", refuse: () => answer.resolve(why) };
}

/** Drafts that nobody answered in time; nothing, where somebody did. The store's clock said so: ours is not asked. */
export function settleDue(draft: Draft, run: CachedRun, input: DueInput): Settled {
  const { nodeId, iteration, approvalId, answer } = input;
  const nodeIndex = run.state.graph.indexOf.get(nodeId) ?? -1;
  const due = { nodeIndex, iteration, approvalId, now: draft.now };
  const result = onApprovalDue(run.state, due);
  if (result.kind === "stale") return { kind: "doubtful", refuse: () => answer.resolve() };
  for (const fact of result.facts) draft.append(run, fact);
  return { kind: "drafted", reply: () => answer.resolve() };
}
