// The labels of node executions, as people read them.

import { labelsOf, taintText } from "../policy/taint.ts";
import type { NodeView } from "./view.ts";

/** The names of the labels of these executions, each once. */
export const labelNames = (nodes: readonly (NodeView | undefined)[]): readonly string[] =>
  labelsOf(nodes.flatMap((node) => node?.taint ?? []));

/** The labels of an execution with their origins: `web from fetch`. */
export const labelText = ({ taint }: NodeView): string => taintText(taint);
