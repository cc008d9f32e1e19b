// Merges several values for one parameter. Values are in the order of the definition's edges, not in the order in which their nodes
// finished, so the result is the same in every run.

import { unreachable } from "../fault/invariant.ts";

export const MERGE_STRATEGIES = ["last_write_wins", "concat", "array", "json_object"] as const;
/** How several values for one parameter become one. */
export type MergeStrategy = (typeof MERGE_STRATEGIES)[number];

export interface MergeItem {
  /** Label of the node the value comes from, for `json_object`. */
  readonly label: string;
  readonly value: unknown;
}

/** The strategy of the edge, otherwise of the target node, otherwise `last_write_wins`. */
export const mergeStrategyOf = (
  edge: MergeStrategy | null | undefined,
  node: MergeStrategy | null | undefined,
): MergeStrategy => edge ?? node ?? "last_write_wins";

/**
 * Merges `items`, which are in edge order. `concat` joins texts with a blank line (other values as JSON). `array` and `json_object` make a
 * list and an object. If two sources have the same label, the later one counts. An empty list gives undefined.
 */
export function merge(strategy: MergeStrategy, items: readonly MergeItem[]): unknown {
  const values = items.map((item) => item.value);
  switch (strategy) {
    case "last_write_wins":
      return values.at(-1);
    case "concat":
      return values.map(asText).join("\n\n");
    case "array":
      return values;
    case "json_object":
      // fromEntries defines own properties, so a label never reaches a prototype.
      return Object.fromEntries(items.map((item) => [item.label, item.value]));
    default:
      return unreachable(strategy, "merge strategy");
  }
}

const asText = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");
