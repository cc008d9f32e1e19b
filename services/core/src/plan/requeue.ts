// Queues retries and lost executions of runs with a budget. Without a budget, the fact that ends the claim is followed by `node.queued` at
// once. With a budget, the next attempt must fit first, so the planner queues it.

import type { Fact } from "../log/event.ts";
import { executionDefinition } from "../log/execution.ts";
import { failureFact } from "./failure.ts";
import { placeAt } from "./place.ts";
import type { Planning } from "./planning.ts";

/** `node.queued` for each execution that fits, and the failure of each that its node's budget can never cover. */
export const queueUnfunded = ({ state, now, funds }: Planning): Fact[] =>
  state.unfunded.flatMap(({ nodeIndex, iteration, attempt, notBefore }): Fact[] => {
    const funding = funds.ask(nodeIndex, iteration);
    const place = placeAt(state, nodeIndex, iteration);
    if (funding.kind === "granted") {
      const { reserved } = funding;
      const payload = {
        ...(notBefore > now ? { notBefore } : {}),
        ...(reserved === undefined ? {} : { reserved }),
      };
      return [{ ...place, attempt, type: "node.queued", payload }];
    }
    if (funding.kind !== "node_exceeded") return [];
    const definition = executionDefinition(state, nodeIndex, iteration);
    const { message } = funding;
    return [failureFact(definition, place, { cause: "budget_exceeded", message, durationMs: 0 })];
  });
