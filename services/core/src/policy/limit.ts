// Limits on how much is under way: what authors write, and what the log says of it once the key is filled in. A limits never
// refuses anything for good; it says when.

/** Who shares the key: only the workflow, or all workflows of the tenant. */
export const LIMIT_SCOPES = ["workflow", "tenant"] as const;
export type LimitScope = (typeof LIMIT_SCOPES)[number];

export interface ConcurrencyLimit {
  /** A template; each of its values has slots of its own. */
  readonly key: string;
  readonly limit: number;
  readonly scope: LimitScope;
}

export interface RateLimit extends ConcurrencyLimit {
  readonly perMs: number;
}

/** A limit with its key filled in. */
export type SlotTicket = ConcurrencyLimit;
export type RateTicket = RateLimit;

/** The slots that an execution or a run must have before it may start. */
export interface Limits {
  readonly slot?: SlotTicket;
  readonly rate?: RateTicket;
}

/** The limits of an execution or a run, as its fold holds them. */
export interface FoldedLimits {
  readonly slot: SlotTicket | undefined;
  readonly rate: RateTicket | undefined;
}

/** The owner of a limit. */
export interface LimitOwner {
  readonly tenantId: string;
  /** Null for a run of an unsaved graph; it shares its keys with no other run. */
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
