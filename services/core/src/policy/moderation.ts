// The texts of a node that moderation checks, and the effect of a finding on the node. The executor carries it out.

export const MODERATIONS = ["none", "input", "output", "both"] as const;
/** The checked parts. It is a key of the node itself, beside `config`. */
export type Moderation = (typeof MODERATIONS)[number];

export const MODERATION_ACTIONS = ["block", "hold"] as const;
/** `block` fails the node. `hold` asks a person. */
export type ModerationAction = (typeof MODERATION_ACTIONS)[number];

/** Whether a phase is moderated. */
export const isModerated = (moderation: Moderation, phase: "input" | "output"): boolean =>
  moderation === phase || moderation === "both";
