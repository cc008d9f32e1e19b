// How much can be promised about an effect on the outside world, and what a later attempt may do about one that was begun.
//   transactional  the effect and its record commit in the same database: exactly once, and asking again gives the record
//   idempotent     the receiver knows a repeat by its key: made again under the same key while it is not known to have happened
//   at_most_once   never made again once begun; where nobody knows whether it happened, a person has to look

export const EFFECT_CLASSES = ["transactional", "idempotent", "at_most_once"] as const;
export type EffectClass = (typeof EFFECT_CLASSES)[number];

/** What the ledger knows when an effect is begun: `new` to this claim, begun by an earlier one, or made with this result. */
export type EffectStanding =
  | { readonly state: "new" | "begun_before" }
  /** The result is JSON text. */
  | { readonly state: "committed"; readonly resultJson: string };

/** Whether an attempt may make the effect now. */
export const mayMake = (effectClass: EffectClass, { state }: EffectStanding): boolean =>
  state === "new" || (state === "begun_before" && effectClass !== "at_most_once");
