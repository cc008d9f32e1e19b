// What a run counts beside its nodes: the nodes it visited, its retries and its last error. The state that users read is made of
// them (`workflow-state.ts`). No decision of the planner depends on them.

import { LIMITS } from "../data/limits.ts";
import type { Taint } from "../policy/taint.ts";
import type { LoggedFact } from "./event.ts";
import { isNodeFact } from "./fact-kind.ts";
import { reasonText } from "./meaning.ts";
import type { RunState } from "./state.ts";

/** Folds an event into the counters of its run. */
export function noteProgress(state: RunState, event: LoggedFact): void {
  state.updatedAt = Math.max(state.updatedAt, event.at);
  if (isNodeFact(event) || event.type === "run.status.changed") state.movedAt = event.at;
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- other types count nothing
  switch (event.type) {
    case "node.retried":
      countRetry(state, event);
      noteError(state, event, event.payload.taint);
      break;
    case "node.failed":
    case "node.timed_out":
      noteError(state, event, event.payload.taint);
      break;
    case "run.failed":
    case "run.timed_out":
      // The message may quote that of a node.
      noteError(state, event, state.lastErrorTaint);
      break;
    default:
  }
}

function noteError(state: RunState, event: LoggedFact, taint: Taint | undefined): void {
  state.lastError = reasonText(event);
  state.lastErrorTaint = taint;
}

function countRetry({ graph, retries }: RunState, { nodeId }: LoggedFact): void {
  const index = nodeId === "" ? undefined : graph.indexOf.get(nodeId);
  if (index !== undefined) retries.set(index, (retries.get(index) ?? 0) + 1);
}

/** Notes that a round of a node begins. The state keeps the newest visits and the number of those that it dropped. */
export function visit(state: RunState, index: number): void {
  state.visited.push(index);
  if (state.visited.length < LIMITS.visitedNodes * 2) return;
  state.visited.splice(0, LIMITS.visitedNodes);
  state.visitsDropped += LIMITS.visitedNodes;
}
