// The state of a run as the handler of one execution gets it. The assignment of a claim and a recorded invocation show this one text.

import { labelsOf } from "../policy/taint.ts";
import { executionAt } from "./execution.ts";
import type { RunState } from "./state.ts";
import { workflowState } from "./workflow-state.ts";
import { workflowStateJson } from "./workflow-state-json.ts";

interface Asked {
  readonly nodeIndex: number;
  readonly iteration: number;
  readonly workflowId: string;
}

/**
 * The state as JSON text. Its memory has the keys that the node reads, and its texts have no other labels than the data of the claim. The
 * planner compared only those with the policies.
 */
export function handlerStateJson(
  state: RunState,
  { nodeIndex, iteration, workflowId }: Asked,
): string {
  const memory = state.graph.nodes[nodeIndex]?.definition.readKeys ?? "all";
  const labels = new Set(labelsOf(executionAt(state, nodeIndex, iteration)?.readTaint));
  return workflowStateJson(workflowState(state, { workflowId, memory, labels }));
}
