// Nodes that no executor can be given: what they read, or that together with their definition, is above its limit. What a node reads
// is known when it is queued; variables may grow until an executor gets it, so the size is looked at again then.

import { LIMITS } from "../data/limits.ts";

/** Why a node cannot be given to an executor, as the failure it becomes. */
export interface Oversize {
  readonly cause: "context_too_large" | "node_too_large";
  readonly message: string;
}

/** What is wrong with an assignment of this size, if anything is. */
export function oversizeOf(nodeBytes: number, contextBytes: number): Oversize | undefined {
  if (contextBytes > LIMITS.contextBytes) return contextTooLarge(contextBytes);
  if (nodeBytes + contextBytes <= ASSIGNED_BYTES_MAX) return undefined;
  return {
    cause: "node_too_large",
    message:
      `the node's definition takes ${nodeBytes} bytes with its edges, and what it reads ${contextBytes}; ` +
      `together at most ${ASSIGNED_BYTES_MAX} bytes. Split the node, or give it fewer edges.`,
  };
}

export const contextTooLarge = (
  bytes: number,
): Oversize & { readonly cause: "context_too_large" } => ({
  cause: "context_too_large",
  message:
    `what the node would read takes ${bytes} bytes; at most ${LIMITS.contextBytes} bytes. ` +
    "Let its parents, or the variables before it, give less.",
});

/** What names the task beside these two takes a few hundred bytes. */
const ASSIGNED_BYTES_MAX = LIMITS.itemBytes - 16 * 1024;
