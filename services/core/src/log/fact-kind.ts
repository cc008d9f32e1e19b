// The two kinds of facts that the fold moves a state by: those of a node execution, and those of the run.

import { invariant } from "../fault/invariant.ts";
import type { EventType, LoggedFact } from "./event.ts";
import { type EVENTS, rowOf } from "./event-table.ts";
import { runStatusAfter } from "./meaning.ts";

type TypeWith<Field> = {
  [T in EventType]: (typeof EVENTS)[T] extends Field ? T : never;
}[EventType];

/** A fact that moves one node execution. */
export type NodeFact = Extract<
  LoggedFact,
  { readonly type: TypeWith<{ readonly node: string } | { readonly isAboutNode: true }> }
>;

/** A fact that gives the run a status. */
export type RunFact = Extract<
  LoggedFact,
  { readonly type: TypeWith<{ readonly run: string } | { readonly runOf: unknown }> }
>;

export function isNodeFact(event: LoggedFact): event is NodeFact {
  const row = rowOf(event.type);
  invariant(row !== undefined, `the event type ${event.type} is in the table`);
  return row.node !== undefined || row.isAboutNode === true;
}

export const isRunFact = (event: LoggedFact): event is RunFact =>
  runStatusAfter(event) !== undefined;
