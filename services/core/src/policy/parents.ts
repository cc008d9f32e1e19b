// What a node does about a failed parent; `plan.ts` acts on it and `inputs.ts` fills what is missing.

export const PARENT_FAILURE_POLICIES = ["skip", "propagate", "substitute_default"] as const;
/** What a node does when a parent failed or was cancelled. Default: propagate. */
export type ParentFailurePolicy = (typeof PARENT_FAILURE_POLICIES)[number];
