// The policies of a node whose parent failed. `plan.ts` applies them, and `inputs.ts` fills in missing values.

export const PARENT_FAILURE_POLICIES = ["skip", "propagate", "substitute_default"] as const;
/** The policy for a parent that failed or was cancelled. Default: propagate. */
export type ParentFailurePolicy = (typeof PARENT_FAILURE_POLICIES)[number];
