// Queues the first attempt of an execution that a policy about labels held before it was ever queued. Its limits are filled in here.

import type { Fact } from "../log/event.ts";
import { executionDefinition } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import { failureFact } from "./failure.ts";
import { executionLimits } from "./limits.ts";
import { placeAt, queueFact, type Queueing } from "./place.ts";

/** `node.queued`, or the failure of an execution whose limits have no key. */
export function firstQueueFact(
  state: RunState,
  { nodeIndex, iteration }: { readonly nodeIndex: number; readonly iteration: number },
  queueing: Omit<Queueing, "limits">,
): Fact {
  const place = placeAt(state, nodeIndex, iteration);
  const resolved = executionLimits(state, nodeIndex, iteration);
  if (resolved?.ok === false) {
    const failure = { cause: "limit_key_invalid", message: resolved.message, durationMs: 0 };
    return failureFact(executionDefinition(state, nodeIndex, iteration), place, failure);
  }
  return queueFact(place, { ...queueing, limits: resolved?.limits });
}
