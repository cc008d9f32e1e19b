// The pauses of one epoch, as a tick asks about them. It never changes: what a tick decides on it, its commit proves.

import type { PauseBook, PauseKey, PauseRecord } from "@pawl/platform/store/pauses/pauses";

export interface PauseView {
  readonly epoch: number;
  /** What holds the runs of a workflow; undefined where they may go on. */
  workflow(tenantId: string, workflowId: string | null): PauseRecord | undefined;
  /** Whether nothing of a node type may be claimed. */
  isQueuePaused(nodeType: string): boolean;
  /** Node types of which nothing may be claimed. */
  readonly queues: ReadonlySet<string>;
  /** Workflows whose runs have yet to follow. */
  readonly unsettled: readonly PauseRecord[];
}

const keyOf = (tenantId: string, name: string): string => `${tenantId}\n${name}`;

/** A view of what the store says. */
export function viewOf({ epoch, pauses }: PauseBook): PauseView {
  const of = (scope: PauseKey["scope"]): PauseRecord[] =>
    pauses.filter((pause) => pause.scope === scope && pause.state !== "resuming");
  const workflows = new Map(of("workflow").map((each) => [keyOf(each.tenantId, each.name), each]));
  const queues = new Set(of("queue").map(({ name }) => name));
  return {
    epoch,
    queues,
    unsettled: pauses.filter(({ state }) => state !== "paused"),
    workflow: (tenantId, workflowId) =>
      workflows.size === 0 || workflowId === null
        ? undefined
        : workflows.get(keyOf(tenantId, workflowId)),
    isQueuePaused: (nodeType) => queues.size > 0 && queues.has(nodeType),
  };
}

/** Before anything was read: no epoch is this low, so whatever is decided on it does not commit. */
export const NOTHING_KNOWN = viewOf({ epoch: 0, pauses: [] });
