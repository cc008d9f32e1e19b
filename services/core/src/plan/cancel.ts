// Cancels executions of a run: those of one node, or every one that is not settled.

import { isSettled, type Fact } from "../log/event.ts";
import { executionAt, roundOf } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import type { RunId } from "../name/ids.ts";
import { cancelFact, nodeStateAt, openIterations, placeAt } from "./place.ts";

/** Cancels every unsettled node, and before each node its open iterations. */
export const cancelUnsettled = (state: RunState, reason: string): Fact[] =>
  state.nodes.flatMap((node, index) =>
    isSettled(node.status) ? [] : cancelFacts(state, index, reason),
  );

/** Cancels the open iterations of a node, then the node. */
export const cancelFacts = (state: RunState, index: number, reason: string): Fact[] =>
  [...openIterations(state, index), undefined].map((iteration) =>
    cancelFact(placeAt(state, index, iteration), reason),
  );

/** The same without the executions that wait for a child run that may undo its own nodes. Their nodes stay open too. */
export const cancelUnlessUndone = (state: RunState, reason: string): Fact[] =>
  cancelUnsettled(state, reason).filter(({ nodeId, iteration }) => {
    const index = nodeId === "" ? undefined : state.graph.indexOf.get(nodeId);
    if (index === undefined) return true;
    const node = nodeStateAt(state, index);
    if (iteration === node.base) return !roundOf(node).some(([, each]) => each.childCompensates);
    return executionAt(state, index, iteration)?.childCompensates !== true;
  });

/** The child runs that may undo their nodes, and that the run still waits for. */
export const undoingChildren = (state: RunState): RunId[] =>
  state.nodes.flatMap((node) =>
    isSettled(node.status)
      ? []
      : roundOf(node).flatMap(([, { childCompensates, childRunId }]) =>
          childCompensates && childRunId !== undefined ? [childRunId] : [],
        ),
  );
