// When a run undoes its completed nodes before it ends.

/** The ends of a run that undo completed nodes first, unless the definition names fewer. */
export const COMPENSATED_ENDS = ["failure", "cancel", "timeout"] as const;
export type CompensatedEnd = (typeof COMPENSATED_ENDS)[number];
