// The stored values that facts and actions name.

import type { Action } from "../action/kinds.ts";
import { type Reference, referencesIn } from "../data/reference.ts";
import type { Fact } from "./event.ts";

/** The references in the JSON texts of actions. */
export const actionReferences = (actions: readonly Action[]): readonly Reference[] =>
  actions.flatMap((action) =>
    Object.values(action).flatMap((field) =>
      typeof field === "string" ? referencesIn(field) : [],
    ),
  );

/** The references of a fact: in its value, and in the actions that wait with a held output. */
export function factReferences({ type, payload, value }: Fact): readonly Reference[] {
  const own = value === undefined ? [] : referencesIn(value);
  if (type !== "node.blocked" || payload.actions === undefined) return own;
  return [...own, ...actionReferences(payload.actions)];
}
