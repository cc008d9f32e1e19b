// A copy of a run's state, for a caller that folds on from it. The copy has its own nodes and open executions. It shares what the fold never
// changes in place: the graph, texts, settled iterations and settled compensations. So it costs 0.1 ms for ten thousand settled iterations.

import { isSettled } from "./event.ts";
import type { ScopeState } from "./scope-state.ts";
import { type ExecutionState, newRunState, type NodeState, type RunState } from "./state.ts";

/** The copy. Folding events into either changes nothing in the other. */
export function copyState(state: RunState): RunState {
  const fields = Object.entries(state).map(([key, value]) => [key, copyContainer(value)]);
  return Object.assign(newRunState(state.runId, state.graph), Object.fromEntries(fields), {
    nodes: state.nodes.map(copyNode),
    waits: new Map([...state.waits].map(([name, keys]) => [name, new Set(keys)])),
    undos: new Map([...state.undos].map(([key, undo]) => [key, copyOpen(undo)])),
  });
}

const copyNode = (node: NodeState): NodeState => ({
  ...node,
  scope: node.scope && copyScope(node.scope),
});

const copyScope = (scope: ScopeState): ScopeState => ({
  ...scope,
  items: scope.items.map(copyOpen),
  gaps: new Set(scope.gaps),
  calls: [...scope.calls],
});

/** The fold refuses every event about a settled execution. */
const copyOpen = <E extends ExecutionState>(execution: E): E =>
  isSettled(execution.status) ? execution : { ...execution };

/** The fold adds to the containers of a run, and replaces everything else. */
function copyContainer(value: unknown): unknown {
  if (Array.isArray(value)) return [...(value as readonly unknown[])];
  if (value instanceof Map) return new Map(value);
  return value instanceof Set ? new Set(value) : value;
}
