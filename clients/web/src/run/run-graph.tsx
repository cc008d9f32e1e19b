// The graph of a run, with equal siblings folded and a box to find a node where there are many.

import type { ReactNode } from "react";
import { useMemo } from "react";
import type { DrawnGraph } from "../graph/definition.ts";
import { FOLD_FROM } from "../graph/fold.ts";
import type { FoldedGraph } from "../graph/fold.ts";
import { LazyGraph } from "../graph/lazy-graph.tsx";
import { FindNode } from "./find-node.tsx";
import type { RunLooks } from "./use-looks.ts";
import type { RunView } from "@pawl/core/log/view";

interface Props {
  readonly graph: DrawnGraph;
  readonly folded: FoldedGraph;
  readonly view: RunView;
  readonly runLooks: RunLooks;
  readonly openKey: string;
  readonly text: string;
  readonly foundIds: readonly string[];
  readonly onText: (text: string) => void;
  readonly onOpen: (key: string) => void;
}

/** Draws the graph and its box. */
export function RunGraph(props: Props): ReactNode {
  const { graph, folded, view, runLooks, openKey, text, foundIds, onText, onOpen } = props;
  const { looks, nowMs } = runLooks;
  const run = useMemo(() => ({ nodes: view.nodes, looks, nowMs }), [view.nodes, looks, nowMs]);
  const found = useMemo(() => new Set(foundIds), [foundIds]);
  return (
    <section className="panel graph-panel" aria-label="Graph">
      {graph.nodes.length > FOLD_FROM && (
        <FindNode {...{ graph, looks, text, foundIds, onText, onOpen }} />
      )}
      <LazyGraph graph={folded} run={run} openKey={openKey} foundIds={found} onOpen={onOpen} />
    </section>
  );
}
