// Nodes that are too large for an assignment: their context, or their context and definition together, exceeds its limit. The planner
// checks the size when it queues a node. Variables may grow before an executor gets the node, so the scheduler checks the size again then.

import { LIMITS } from "../data/limits.ts";

/** Why the scheduler cannot send a node to an executor, as the failure of the node. */
export interface Oversize {
  readonly cause: "context_too_large" | "node_too_large";
  readonly message: string;
}

/** The fault of an assignment of this size, or undefined. */
export function oversizeOf(nodeBytes: number, contextBytes: number): Oversize | undefined {
  if (contextBytes > LIMITS.contextBytes) return contextTooLarge(contextBytes);
  if (nodeBytes + contextBytes <= ASSIGNED_BYTES_MAX) return undefined;
  return {
    cause: "node_too_large",
    message:
      `the node's definition takes ${nodeBytes} bytes with its edges, and its context takes ${contextBytes}; ` +
      `together at most ${ASSIGNED_BYTES_MAX} bytes. Split the node, or give it fewer edges.`,
  };
}

export const contextTooLarge = (
  bytes: number,
): Oversize & { readonly cause: "context_too_large" } => ({
  cause: "context_too_large",
  message:
    `the context of the node takes ${bytes} bytes; at most ${LIMITS.contextBytes} bytes. ` +
    "Let its parents, or the variables before it, give less.",
});

/** The rest of an assignment takes a few hundred bytes. */
const ASSIGNED_BYTES_MAX = LIMITS.itemBytes - 16 * 1024;
