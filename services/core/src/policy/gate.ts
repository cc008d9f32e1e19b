// Limits on how much is under way: what authors write, and what the log says of it once the key is filled in. A gate never
// refuses anything for good; it says when.

/** Whose the key is: the workflow's own, or shared by all workflows of the tenant. */
export const GATE_SCOPES = ["workflow", "tenant"] as const;
export type GateScope = (typeof GATE_SCOPES)[number];

export interface ConcurrencyLimit {
  /** A template; each value of it has slots of its own. */
  readonly key: string;
  readonly limit: number;
  readonly scope: GateScope;
}

export interface RateLimit extends ConcurrencyLimit {
  readonly perMs: number;
}

/** A limit with its key filled in. */
export type SlotTicket = ConcurrencyLimit;
export type RateTicket = RateLimit;

/** What something waits for before it may start. */
export interface Gate {
  readonly slot?: SlotTicket;
  readonly rate?: RateTicket;
}

/** Whose limit it is. */
export interface GateOwner {
  readonly tenantId: string;
  /** Null for a run of an unsaved graph, which shares its keys with no other run. */
  readonly workflowId: string | null;
  readonly runId: string;
}

/** The name under which a key is counted. Limits of runs and of nodes never meet, nor do slots and rates. */
export function gateKey(
  kind: "slot" | "rate",
  level: "run" | "node",
  { tenantId, workflowId, runId }: GateOwner,
  { key, scope }: ConcurrencyLimit,
): string {
  const owner = scope === "tenant" ? "*" : (workflowId ?? runId);
  return `${tenantId}/${kind}/${level}/${owner}/${key}`;
}
