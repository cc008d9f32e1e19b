// Loads the graph's code when a graph is first shown. The rest of the page does not wait for it.

import { lazy, type ReactNode, Suspense } from "react";
import type { GraphProps } from "./graph-view.tsx";

const GraphView = lazy(async () => ({ default: (await import("./graph-view.tsx")).GraphView }));

export function LazyGraph(props: GraphProps): ReactNode {
  return (
    <Suspense fallback={<p className="loading">Drawing the graph…</p>}>
      <GraphView {...props} />
    </Suspense>
  );
}
