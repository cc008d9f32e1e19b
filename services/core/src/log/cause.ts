// Why an event is in the log: the event of the same run that caused it (S1.48). Most causes need no word in the log: what an
// executor said was caused by the claim it spoke under, whose seq is the epoch, and what the engine made of it follows directly.
// Only the others carry `by`. A seq drafted in the same commit is not final yet, so such a cause is told as a distance, which
// holds because the events of one commit lie side by side.

import { isTerminalType, type EventType, type Fact, type RunEvent } from "./event.ts";
import { executionAt } from "./execution.ts";
import type { RunState } from "./state.ts";

/** The seq of the event that caused this one; 0 for the first. */
export function causeOf(event: Pick<RunEvent, "type" | "seq" | "epoch" | "payload">): number {
  const { by } = event.payload;
  if (by === undefined) return impliedCause(event);
  return by < 0 ? event.seq + by : by;
}

/** `fact` as it is appended next to `state`; seqs above `committedSeq` are not final yet. */
export function withCause(state: RunState, fact: Fact, committedSeq: number): Fact {
  const { type, epoch } = fact;
  const seq = state.lastSeq + 1;
  const cause = causeIn(state, fact);
  const isImplied = cause === impliedCause({ type, epoch, seq });
  // Partial output may come between the last commit and this one: what lies directly before is not certain then.
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
  if (fact.type !== "node.cancelled" || fact.epoch > 0) return own.causeSeq;
  return culpritOf(state, index, fact.iteration) ?? own.causeSeq;
}

/** The failure for which an execution is cancelled, where it is one. */
function culpritOf(state: RunState, index: number, iteration: number): number | undefined {
  if (state.fatalNode !== undefined) return state.nodes[state.fatalNode]?.causeSeq;
  const scope = iteration > 0 ? state.nodes[index]?.scope : undefined;
  if (scope?.firstFailed === undefined) return undefined;
  const { onItemFailure } = state.graph.nodes[index]?.definition.scope ?? {};
  return onItemFailure === "fail" ? scope.items[scope.firstFailed - 1]?.causeSeq : undefined;
}

/** What settles a node. */
const SETTLES: ReadonlySet<string> = new Set([
  "node.completed",
  "node.failed",
  "node.timed_out",
  "node.cancelled",
  "node.skipped",
]);

const AFTER_CLAIM: ReadonlySet<string> = new Set(["node.started"]);
const AFTER_WAIT: ReadonlySet<string> = new Set([
  "node.started",
  "node.blocked",
  "node.decided",
  "node.expanded",
]);

/** A node that fails, or goes on by handle `error`, may never have run, or been lost. */
const BY_FAILURE: ReadonlySet<string> = new Set([...AFTER_WAIT, "run.started", "run.recovered"]);

/** What may cause an event besides a settled node; settled nodes cause those of `FOLLOWS`. */
const CAUSES: Partial<Readonly<Record<EventType, ReadonlySet<string>>>> = {
  "node.queued": new Set([
    "run.started",
    "run.recovered",
    "node.retried",
    "node.expanded",
    "node.blocked",
    "node.decided",
  ]),
  "node.started": new Set(["node.queued"]),
  "node.expanded": AFTER_CLAIM,
  "node.blocked": AFTER_CLAIM,
  "node.stream.delta": AFTER_CLAIM,
  "node.log": AFTER_CLAIM,
  "moderation.flagged": AFTER_CLAIM,
  "contract.violated": AFTER_CLAIM,
  "run.recovered": AFTER_CLAIM,
  "node.retried": AFTER_WAIT,
  "node.completed": BY_FAILURE,
  "node.timed_out": AFTER_WAIT,
  "node.failed": BY_FAILURE,
  "node.decided": new Set(["node.blocked"]),
  "node.skipped": new Set(["run.started"]),
};
const FOLLOWS: ReadonlySet<string> = new Set([
  "node.queued",
  "node.skipped",
  "node.failed",
  "node.completed",
  "node.timed_out",
  "node.cancelled",
  "node.invalidated",
]);

/** Whether an event of one type may be the cause of one of another: what a checker of logs asks. */
export function mayCause(cause: EventType, type: EventType): boolean {
  if (type === "run.started" || isTerminalType(cause)) return false;
  if (isTerminalType(type)) return SETTLES.has(cause) || cause === "run.status.changed";
  if (SETTLES.has(cause) && FOLLOWS.has(type)) return true;
  return CAUSES[type]?.has(cause) ?? true;
}
