// The status of a run, and the one table of its legal changes. An event of the run gives it a status. While that status is `running`, two
// more follow from the node events alone. A run is `scheduled` while no executor has started a node. It is `retrying` while every execution
// that could run waits for its backoff. They need no event and no write of their own. Both folds (`fold.ts`, `view.ts`) take them from here.
//
//   pending ─▶ scheduled ─▶ running ◀─▶ waiting | retrying | paused | compensating
//   every live status ─▶ completed | failed | cancelled | timeout            (a final status stays)

import type { NodeStatus, RunStatus } from "./event.ts";

const ENDS = ["completed", "failed", "cancelled", "timeout"] as const;
const HELD = ["paused", "compensating"] as const;

/**
 * Each status with those that may follow it. A glue node needs no executor, so a run may complete while it is scheduled. A run that only
 * undoes an execution of another run is compensating from its beginning, and completes.
 */
const NEXT: Readonly<Record<RunStatus, ReadonlySet<RunStatus>>> = {
  pending: new Set(["scheduled", ...HELD, "failed", "cancelled", "timeout"]),
  scheduled: new Set(["running", "waiting", ...HELD, ...ENDS]),
  running: new Set(["waiting", "retrying", ...HELD, ...ENDS]),
  waiting: new Set(["running", "retrying", ...HELD, ...ENDS]),
  retrying: new Set(["running", "waiting", ...HELD, ...ENDS]),
  paused: new Set(["pending", "scheduled", "running", "waiting", "retrying", ...HELD, ...ENDS]),
  compensating: new Set(["paused", ...ENDS]),
  completed: new Set(),
  failed: new Set(),
  cancelled: new Set(),
  timeout: new Set(),
};

/** Whether a run may change its status in this way. */
export const mayBecome = (from: RunStatus, to: RunStatus): boolean => NEXT[from].has(to);

/** The facts from which the status follows. */
interface Standing {
  /** The status that the newest event of the run gave it. */
  readonly status: RunStatus;
  /** Whether an execution was started or blocked. */
  readonly hasBegun: boolean;
  /** How many executions are queued, running or retrying. */
  readonly activeCount: number;
  /** How many of them wait for their backoff. */
  readonly backoffCount: number;
}

/** The status of a run as users see it. */
export function statusOf({ status, hasBegun, activeCount, backoffCount }: Standing): RunStatus {
  if (status !== "running") return status;
  if (!hasBegun) return "scheduled";
  return activeCount > 0 && activeCount === backoffCount ? "retrying" : "running";
}

const ACTIVE: ReadonlySet<NodeStatus> = new Set(["queued", "running", "retrying"]);

/** Whether an execution can advance without a person or a child run. */
export const isActive = (status: NodeStatus): boolean => ACTIVE.has(status);

/** Whether an execution waits for its backoff: it failed, and its next attempt is queued for later. */
export const isBackingOff = (
  status: NodeStatus,
  attempt: number,
  notBefore: number | undefined,
): boolean =>
  status === "retrying" || (status === "queued" && attempt > 1 && notBefore !== undefined);
