// The state of a run as the handler of one node gets it. The assignment of a claim and a recorded invocation show this one text.

import type { RunState } from "./state.ts";
import { workflowState } from "./workflow-state.ts";
import { workflowStateJson } from "./workflow-state-json.ts";

/** The state as JSON text. Its memory has the keys that the node reads. */
export function handlerStateJson(state: RunState, nodeIndex: number, workflowId: string): string {
  const memory = state.graph.nodes[nodeIndex]?.definition.readKeys ?? "all";
  return workflowStateJson(workflowState(state, { workflowId, memory }));
}
