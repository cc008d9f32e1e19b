// Which texts of a node are looked at by moderation, and what a finding does to the node. An executor acts on it.

export const MODERATIONS = ["none", "input", "output", "both"] as const;
/** What is moderated; the seed's `config.moderation` stands beside `config` here. */
export type Moderation = (typeof MODERATIONS)[number];

export const MODERATION_ACTIONS = ["block", "hold"] as const;
/** `block` fails the node; `hold` asks a person. */
export type ModerationAction = (typeof MODERATION_ACTIONS)[number];

/** Whether a phase is moderated. */
export const isModerated = (moderation: Moderation, phase: "input" | "output"): boolean =>
  moderation === phase || moderation === "both";
