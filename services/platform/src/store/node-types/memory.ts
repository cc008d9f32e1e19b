// The catalogue of node types in memory.

import type { Tables } from "../memory/store.ts";
import type { NodeTypes } from "./node-types.ts";

/** The catalogue over the tables. */
export const createMemoryNodeTypes = (
  { nodeTypes: rows }: Tables,
  now: () => number,
): NodeTypes => ({
  find: async (nodeTypes) =>
    [...new Set(nodeTypes)].flatMap((nodeType) => rows.get(nodeType) ?? []).toSorted(byName),
  save: async (entries) => {
    const next = entries.filter(
      ({ nodeType, revision }) => (rows.get(nodeType)?.revision ?? 0) === revision - 1,
    );
    for (const entry of next) rows.set(entry.nodeType, { ...entry, updatedAt: now() });
    return new Set(next.map(({ nodeType }) => nodeType));
  },
});

const byName = (a: { readonly nodeType: string }, b: { readonly nodeType: string }): number =>
  a.nodeType < b.nodeType ? -1 : 1;
