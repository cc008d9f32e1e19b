// What a node does if a parent failed; `plan.ts` applies it, and `inputs.ts` fills in missing values.

export const PARENT_FAILURE_POLICIES = ["skip", "propagate", "substitute_default"] as const;
/** What a node does if a parent failed or was cancelled. Default: propagate. */
export type ParentFailurePolicy = (typeof PARENT_FAILURE_POLICIES)[number];
