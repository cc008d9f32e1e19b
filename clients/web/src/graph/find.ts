// Finds nodes by their id or label. Pure.

import type { DrawnGraph } from "./definition.ts";

/** The ids of nodes whose id or label holds the text, those that begin with it first; none for an empty text. */
export function findNodes({ nodes }: DrawnGraph, text: string): readonly string[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  const place = ({ id, label }: { readonly id: string; readonly label: string }): number => {
    const places = [id, label].map((name) => name.toLowerCase().indexOf(wanted));
    return Math.min(...places.map((at) => (at < 0 ? Infinity : at)));
  };
  return nodes
    .map((node) => ({ id: node.id, at: place(node) }))
    .filter(({ at }) => at < Infinity)
    .toSorted((one, other) => Math.min(one.at, 1) - Math.min(other.at, 1))
    .map(({ id }) => id);
}
