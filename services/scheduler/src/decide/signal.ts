// Drafts signals to runs, and waits for signals whose time is up. A refusal is made on a fold that was read after the input arrived, so a
// signal that another scheduler has just accepted is found.

import { onSignal, onSignalDue } from "@pawl/core/plan/signal";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { CachedRun } from "../commit/cache.ts";
import type { Draft } from "../commit/draft.ts";
import type { SignalDueInput, SignalInput } from "../inputs/input.ts";
import { payloadFault } from "../inputs/response.ts";
import type { Settled } from "./settle.ts";

/** Drafts a signal. A node that waits for it takes it in the same commit, also if the run is paused. */
export function settleSignal(draft: Draft, run: CachedRun, input: SignalInput): Settled {
  const { name, payloadJson, requestId, digest, answer } = input;
  const arrival = { name, payloadJson, requestId, digest, now: draft.now };
  const result = onSignal(run.state, arrival, payloadFault);
  if (result.kind !== "accepted") return { kind: "doubtful", refuse: () => answer.resolve(result) };
  for (const fact of result.facts) draft.append(run, fact);
  probe("tick.signalled");
  const { isKept } = result;
  return { kind: "drafted", reply: () => answer.resolve({ kind: "accepted", isKept }) };
}

/** Drafts that a signal did not come in time, by the store's clock. Drafts nothing if the node does not wait any more. */
export function settleSignalDue(draft: Draft, run: CachedRun, input: SignalDueInput): Settled {
  const { nodeId, iteration, answer } = input;
  const nodeIndex = run.state.graph.indexOf.get(nodeId) ?? -1;
  const result = onSignalDue(run.state, { nodeIndex, iteration, now: draft.now });
  if (result.kind === "stale") return { kind: "doubtful", refuse: () => answer.resolve() };
  for (const fact of result.facts) draft.append(run, fact);
  probe("tick.signal-due");
  return { kind: "drafted", reply: () => answer.resolve() };
}
