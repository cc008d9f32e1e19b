// The advice in the message of a failure after which the scheduler tries no more. It names the run, the node, the limit that is used up, and
// the settings that help.

import { LIMITS } from "../data/limits.ts";
import type { EventPlace } from "../log/event.ts";
import { executionDefinition } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import { mayRetry } from "../policy/retry.ts";

/** The advice after the last attempt. Undefined if more attempts would not have been made anyway, or if the node allows only one. */
export function spentAdvice(
  state: RunState,
  nodeIndex: number,
  place: EventPlace,
  cause: string,
): string | undefined {
  const { retry } = executionDefinition(state, nodeIndex, place.iteration);
  const { attempt, nodeId } = place;
  if (retry.attempts === 1 || !mayRetry({ ...retry, attempts: attempt + 1 }, attempt, cause))
    return undefined;
  const where = `run ${state.runId}, node ${nodeId}`;
  const correct = "or correct what the message names";
  if (attempt >= retry.attempts)
    return `${where}: attempt ${attempt} of ${retry.attempts} failed with ${cause}; raise attempts in its retry policy, ${correct}`;
  return `${where}: attempt ${attempt} failed with ${cause}, and max_retries of the run is ${state.maxRetries ?? 0}; raise max_retries, ${correct}`;
}

/** The message of a node that lost all its deliveries. */
export const lostMessage = (state: RunState, { nodeId }: EventPlace, lost: number): string =>
  `run ${state.runId}, node ${nodeId}: lost ${lost} deliveries, and at most ${LIMITS.deliveriesMax} are made; its executors died or went silent. ${LOST_ADVICE}`;

/** What to do about a handler that loses its processes. */
export const LOST_ADVICE =
  "Look for a crash, or too little memory. If the handler blocks its process, use asynchronous I/O, give it a longer stall time, or serve it from a process of its own";
