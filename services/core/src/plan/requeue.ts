// Queues retries, lost executions and released ones of runs with a budget. Without a budget, the fact that ends the claim or the hold is
// followed by `node.queued` at once. With a budget, the next attempt must fit first, so the planner queues it.
//
// Race: labelled data becomes readable while an execution waits for its budget. So the next round of the planner compares the policies again,
// in the same commit.

import type { Fact } from "../log/event.ts";
import { executionDefinition } from "../log/execution.ts";
import type { UnfundedState } from "../log/ledger.ts";
import { failureFact } from "./failure.ts";
import { firstQueueFact } from "./first-queue.ts";
import { gateFact } from "./gate.ts";
import { placeAt } from "./place.ts";
import type { Planning } from "./planning.ts";
import { releaseOf } from "./release.ts";

/** `node.queued` for each execution that fits, and the failure of each that its node's budget can never cover. */
export const queueUnfunded = (round: Planning): Fact[] =>
  round.state.unfunded.flatMap((each) => queueOne(round, each) ?? []);

function queueOne({ state, now, funds }: Planning, unfunded: UnfundedState): Fact | undefined {
  const { nodeIndex, iteration, attempt, notBefore } = unfunded;
  const funding = funds.ask(nodeIndex, iteration);
  const place = placeAt(state, nodeIndex, iteration);
  if (funding.kind === "node_exceeded") {
    const definition = executionDefinition(state, nodeIndex, iteration);
    const { message } = funding;
    return failureFact(definition, place, { cause: "budget_exceeded", message, durationMs: 0 });
  }
  if (funding.kind !== "granted") return undefined;
  if (gateFact(state, nodeIndex, iteration) !== undefined) state.isTaintMoved = true;
  const { reserved } = funding;
  // A policy held it before its first attempt.
  if (place.attempt === 0) {
    const releaseAt = releaseOf(state, nodeIndex, iteration);
    return firstQueueFact(state, { nodeIndex, iteration }, { releaseAt, now, reserved });
  }
  const payload = {
    ...(notBefore > now ? { notBefore } : {}),
    ...(reserved === undefined ? {} : { reserved }),
  };
  return { ...place, attempt, type: "node.queued", payload };
}
