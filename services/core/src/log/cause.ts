// The event of the same run that caused an event. The log implies most causes. The cause of an executor's report is its claim, whose seq is
// the epoch. An event that the scheduler derives follows its cause directly. Only other events carry `by`. The seq of an event in the same
// commit is not final when the scheduler drafts it. Then `by` is a negative distance. It stays true, because the events of one commit are
// adjacent.

import type { Fact, RunEvent } from "./event.ts";
import { executionAt, isItem } from "./execution.ts";
import type { RunState } from "./state.ts";
import { isUndo } from "./undo-iteration.ts";

/** The seq of the event that caused this one. 0 for the first. */
export function causeOf(event: Pick<RunEvent, "type" | "seq" | "epoch" | "payload">): number {
  const { by } = event.payload;
  if (by === undefined) return impliedCause(event);
  return by < 0 ? event.seq + by : by;
}

/** `fact` with its cause, as the scheduler appends it after `state`. Seqs above `committedSeq` are not final yet. */
export function withCause(state: RunState, fact: Fact, committedSeq: number): Fact {
  const { type, epoch } = fact;
  const seq = state.lastSeq + 1;
  const cause = causeIn(state, fact);
  const isImplied = cause === impliedCause({ type, epoch, seq });
  // Stream deltas may be logged between the last commit and this one, so the event directly before is not certain.
  if (isImplied && (cause === epoch || cause === 0 || cause > committedSeq)) return fact;
  const by = cause > committedSeq ? cause - seq : cause;
  // The spread keeps the pairing of type and payload, which the union cannot see.
  return { ...fact, payload: { ...fact.payload, by } } as Fact;
}

function impliedCause({ type, epoch, seq }: Pick<RunEvent, "type" | "seq" | "epoch">): number {
  if (type === "run.started") return 0;
  return epoch > 0 && type !== "node.started" ? epoch : seq - 1;
}

function causeIn(state: RunState, fact: Fact): number {
  if (fact.type === "run.started") return 0;
  const index = fact.nodeId === "" ? undefined : state.graph.indexOf.get(fact.nodeId);
  const node = index === undefined ? undefined : state.nodes[index];
  if (index === undefined || node === undefined) return state.lastSeq;
  const own = executionAt(state, index, fact.iteration) ?? node;
  if (isUndo(fact.iteration)) return own.status === "pending" ? state.undoSeq : own.causeSeq;
  // The signal that ends a wait is the event directly before.
  if (own.wait !== undefined && isTaking(fact)) return state.lastSeq;
  if (fact.type === "node.invalidated") return jumpCause(state) ?? own.causeSeq;
  if (fact.type !== "node.cancelled" || fact.epoch > 0) return own.causeSeq;
  return culpritOf(state, index, fact.iteration) ?? own.causeSeq;
}

const isTaking = (fact: Fact): boolean =>
  (fact.type === "node.completed" || fact.type === "node.failed") &&
  fact.payload.signal !== undefined;

/** The seq of the last event of the node whose jump the planner follows. */
const jumpCause = ({ jumps: [jump], nodes }: RunState): number | undefined =>
  jump === undefined ? undefined : nodes[jump.entry.source]?.causeSeq;

/** The seq of the failure or the jump that cancelled an execution. Undefined if neither did. */
function culpritOf(state: RunState, index: number, iteration: number): number | undefined {
  if (state.fatalNode !== undefined) return state.nodes[state.fatalNode]?.causeSeq;
  const jumped = jumpCause(state);
  if (jumped !== undefined) return jumped;
  const scope = isItem(state, index, iteration) ? state.nodes[index]?.scope : undefined;
  if (scope?.firstFailed === undefined) return undefined;
  const { onItemFailure } = state.graph.nodes[index]?.definition.scope ?? {};
  return onItemFailure === "fail" ? scope.items[scope.firstFailed - 1]?.causeSeq : undefined;
}
