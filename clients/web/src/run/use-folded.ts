// The graph as the page draws it: folded, except for the open node, the nodes that match the search, and the failed nodes.

import { useMemo } from "react";
import type { DrawnGraph } from "../graph/definition.ts";
import { findNodes } from "../graph/find.ts";
import { foldGraph } from "../graph/fold.ts";
import type { FoldedGraph } from "../graph/fold.ts";
import type { Looks } from "./looks.ts";

/** The most nodes of each kind that stay unfolded; with more, the graph would be as long as before. */
const APART_MAX = 5;
const FAILURES: ReadonlySet<string> = new Set(["failed", "timed_out", "handled"]);

export interface Folded {
  readonly folded: FoldedGraph;
  readonly foundIds: readonly string[];
}

/** Folds `graph` for a reader who has `openId` open and looks for `text`. */
export function useFolded(graph: DrawnGraph, looks: Looks, openId: string, text: string): Folded {
  const foundIds = useMemo(() => findNodes(graph, text), [graph, text]);
  const failed = graph.nodes.filter(({ id }) => FAILURES.has(looks.get(id)?.look ?? ""));
  const apart = [
    openId,
    ...foundIds.slice(0, APART_MAX),
    ...failed.slice(0, APART_MAX).map(({ id }) => id),
  ].join(" ");
  const folded = useMemo(() => foldGraph(graph, new Set(apart.split(" "))), [graph, apart]);
  return { folded, foundIds };
}
