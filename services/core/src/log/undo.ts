// Compensation in the log. Each completed execution of a node with a compensation is kept, in the order of completion: that is the stack.
// Its compensation is an execution of its own, under the same node and an iteration of its own. So events, jobs, leases, effects and
// approvals of it have keys that no other execution has, and everything that holds for an execution holds for it.
//
//   pending ─queued▶ queued ─started▶ running ─completed | failed | timed_out▶ settled, with retries between
//   any unsettled ─cancelled▶ settled                     (the compensation of the run was stopped)

import { splitObject } from "../data/split-array.ts";
import { utf8Bytes } from "../data/utf8.ts";
import { isSettled, type Ending, type FactOf } from "./event.ts";
import type { NodeFact } from "./fact-kind.ts";
import { isSettlingType } from "./meaning.ts";
import { leave, move } from "./move.ts";
import type { RunState } from "./state.ts";
import { isUndo, undoneBy } from "./undo-iteration.ts";
import { newUndoState, type UndoState } from "./undo-state.ts";

const undoKey = (nodeIndex: number, iteration: number): string => `${nodeIndex}/${iteration}`;

/** The compensation under an iteration of its own. */
export const undoAt = (
  { undos }: RunState,
  nodeIndex: number,
  iteration: number,
): UndoState | undefined => undos.get(undoKey(nodeIndex, undoneBy(iteration)));

/**
 * Keeps an execution that completes, if its node has a compensation. The compensation of a map or a loop is for its iterations. An
 * execution that leaves by `error` has failed.
 */
export function keepForUndo(state: RunState, index: number, event: FactOf<"node.completed">): void {
  const { compensation, scope } = state.graph.nodes[index]?.definition ?? {};
  if (compensation === undefined || event.payload.handle === "error") return;
  const { iteration, value = "null", payload } = event;
  if (isUndo(iteration)) return;
  const isWhole = iteration === state.nodes[index]?.base;
  // An agent is undone as a whole. Its turns and tool calls are not.
  if ((scope ?? null) !== null && isWhole !== (scope?.agent !== undefined)) return;
  keep(state, { nodeIndex: index, iteration, given: value, givenTaint: payload.taint });
}

function keep(state: RunState, kept: Omit<Parameters<typeof newUndoState>[0], "jumps">): void {
  const { nodeIndex, iteration } = kept;
  const undo = newUndoState({ ...kept, jumps: state.iterationCount - state.workflowHandoffs });
  state.undos.set(undoKey(nodeIndex, iteration), undo);
}

/** A run begins that only undoes an execution of another run. */
export function beginUndoRun(
  state: RunState,
  { payload, value = "{}", seq }: FactOf<"run.started"> & { readonly seq: number },
): void {
  const { undoes } = payload;
  if (undoes === undefined) return;
  const given = splitObject(value);
  state.undoes = undoes;
  state.input = given.get("input") ?? "null";
  state.inputBytes = utf8Bytes(state.input);
  state.status = "compensating";
  state.isAdmitted = true;
  const index = state.graph.indexOf.get(undoes.nodeId);
  const { iteration } = undoes;
  const output = given.get("output") ?? "null";
  if (index !== undefined)
    keep(state, { nodeIndex: index, iteration, given: output, givenTaint: payload.taint });
  beginUndoing(state, { end: "completed" }, seq);
}

/** Nothing but compensations follows until the end. */
export function beginUndoing(state: RunState, ending: Ending, seq: number): void {
  state.ending = ending;
  state.undoSeq = seq;
  clearWork(state);
}

/** Empties the work lists of the planner. */
export function clearWork(state: RunState): void {
  state.frontier.clear();
  state.scopes.clear();
  state.firedJoins.clear();
  state.jumps = [];
  state.fatalNode = undefined;
}

/** A compensation is never skipped and has no iterations of its own. */
const NEVER: ReadonlySet<string> = new Set(["node.skipped", "node.invalidated", "node.expanded"]);

/** Moves one compensation past `event`. Returns the fault of a log that is wrong. */
export function applyToUndo(state: RunState, index: number, event: NodeFact): string | undefined {
  const undo = undoAt(state, index, event.iteration);
  if (undo === undefined) return "undoes an execution that has no compensation";
  if (state.ending === undefined) return "undoes an execution of a run that is not compensated";
  if (isSettled(undo.status)) return "moves a compensation that is settled already";
  if (NEVER.has(event.type)) return "cannot happen to a compensation";
  if (event.type === "node.completed") undo.output = event.value ?? "null";
  if (isSettlingType(event.type)) {
    leave(undo, event);
    state.undoSeq = event.seq;
  } else move(undo, event);
  undo.causeSeq = event.seq;
  return undefined;
}
