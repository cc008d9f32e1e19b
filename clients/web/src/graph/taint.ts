// The labels of untrusted data as the graph shows them: a sign and the names. The sign is there for people who do not see the colour.

import type { NodeView } from "@pawl/core/log/view";
import { labelNames } from "@pawl/core/log/view-taint";

/** The sign of untrusted data. */
export const TAINT_SIGN = "\u25c6";

/** The labels of the outputs of these nodes: `◆ web, model`. Empty if they have none. */
export function labelsIn(nodes: readonly (NodeView | undefined)[]): string {
  const labels = labelNames(nodes);
  return labels.length === 0 ? "" : `${TAINT_SIGN} ${labels.join(", ")}`;
}
