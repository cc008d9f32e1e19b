// The promises about an effect on the outside world, and what a later attempt may do about an effect that was begun.
//   transactional  the effect and its record commit in the same database: exactly once; a repeat gets the record
//   idempotent     the receiver recognises a repeat by its key: made again under the same key until its result is known
//   at_most_once   never made again once begun; if its result is unknown, a person has to check

export const EFFECT_CLASSES = ["transactional", "idempotent", "at_most_once"] as const;
export type EffectClass = (typeof EFFECT_CLASSES)[number];

/** The state in the ledger when an effect begins: `new`, begun by an earlier claim, or committed with this result. */
export type EffectStanding =
  | { readonly state: "new" | "begun_before" }
  /** The result is JSON text. */
  | { readonly state: "committed"; readonly resultJson: string };

/** Whether an attempt may make the effect now. */
export const mayMake = (effectClass: EffectClass, { state }: EffectStanding): boolean =>
  state === "new" || (state === "begun_before" && effectClass !== "at_most_once");
