// Limits on how many runs or executions are active at once, and on how often they start. Authors write a limit with a template as its key.
// The log has the limit with its key filled in. A limit never refuses an execution: it delays the start.

import type { SomeAmounts } from "./budget.ts";

/** The runs that share a key: those of the workflow, or of all workflows of the tenant. */
export const LIMIT_SCOPES = ["workflow", "tenant"] as const;
export type LimitScope = (typeof LIMIT_SCOPES)[number];

export interface ConcurrencyLimit {
  /** A template. Each of its values has slots of its own. */
  readonly key: string;
  readonly limit: number;
  readonly scope: LimitScope;
}

export interface RateLimit extends ConcurrencyLimit {
  readonly perMs: number;
}

/** The limits of an execution or a run, with their keys filled in. It needs a slot of each before it may start. */
export interface Limits {
  readonly slot?: ConcurrencyLimit;
  readonly rate?: RateLimit;
  /** Only of a run: what all runs of its workflow may use in a day. The run reserves its own budget before it begins. */
  readonly daily?: SomeAmounts;
}

/** The limits of an execution or a run, in the form of its fold. */
export interface FoldedLimits {
  readonly slot: ConcurrencyLimit | undefined;
  readonly rate: RateLimit | undefined;
  readonly daily?: SomeAmounts | undefined;
}

/** Whether an execution or a run needs slots, or a part of a daily budget, before it may start. */
export const isLimited = ({ slot, rate, daily }: Partial<FoldedLimits>): boolean =>
  slot !== undefined || rate !== undefined || daily !== undefined;

/** The owner of a limit. */
export interface LimitOwner {
  readonly tenantId: string;
  /** Null for a run of an unsaved graph. It shares its keys with no other run. */
  readonly workflowId: string | null;
  readonly runId: string;
}

/** The name under which a key is counted. Runs and nodes have separate names, and so have slots and rates. */
export function limitKey(
  kind: "slot" | "rate",
  level: "run" | "node",
  { tenantId, workflowId, runId }: LimitOwner,
  { key, scope }: ConcurrencyLimit,
): string {
  const owner = scope === "tenant" ? "*" : (workflowId ?? runId);
  return `${tenantId}/${kind}/${level}/${owner}/${key}`;
}
