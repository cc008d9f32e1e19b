// The labels of what an outcome makes: its output, its error, its keys of the memory, the input of its child run. They are the labels of what
// the execution has read, of its type, of its author, and of its handler. A handler can add labels and cannot remove one.

import { LIMITS } from "../data/limits.ts";
import type { Sanitized } from "../log/event.ts";
import { executionDefinition } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import { itemTaint, ownTaint, takenTaint } from "../log/taint.ts";
import { nodeIdAt } from "./place.ts";
import { joinTaint, labelsOf, marksOf, type Taint, withoutLabels } from "../policy/taint.ts";

interface At {
  readonly nodeIndex: number;
  readonly iteration: number;
}

/** The part of an outcome that decides about labels. */
export interface Labelled {
  /** Labels that the handler, its registration or a child run gives. */
  readonly labels?: readonly string[] | undefined;
  /** The labels of an output that waited for a person. */
  readonly taint?: Taint | undefined;
  /** A person or a child run made the output: it is not made from the data that the node read. */
  readonly isFresh?: boolean;
}

/** The labels of everything that an outcome makes. */
export function madeTaint(
  state: RunState,
  { nodeIndex, iteration }: At,
  { labels = [], taint, isFresh = false }: Labelled,
): Taint | undefined {
  const taken = isFresh ? undefined : takenTaint(state, nodeIndex, iteration);
  const nodeId = nodeIdAt(state, nodeIndex);
  const given = labels.map((label) => ({ label, nodeId }));
  return joinTaint(taken, ownTaint(state, nodeIndex, iteration), taint, given);
}

/** The labels of a completed output, as its event has them. A sanitize node drops those that its config names. */
export function completedTaint(
  state: RunState,
  at: At,
  labelled: Labelled,
): { readonly taint?: Taint; readonly sanitized?: Sanitized } {
  const made = madeTaint(state, at, labelled);
  const { type, config } = executionDefinition(state, at.nodeIndex, at.iteration);
  if (type !== "sanitize") return taintField(made);
  // The rules of the definition have checked the config.
  const drop = new Set(config["drop"] as readonly string[]);
  const labels = labelsOf(marksOf(made, drop));
  const sanitized = { labels, reason: String(config["reason"]) };
  return { ...taintField(withoutLabels(made, drop)), sanitized };
}

/** The labels of all that the iterations of a node have made, of its items, and of the failures among them. */
export function scopeTaint(state: RunState, nodeIndex: number): Taint | undefined {
  const { scope, base = 0 } = state.nodes[nodeIndex] ?? {};
  if (scope === undefined || state.taintLabels.size === 0) return undefined;
  const made = scope.items.map((item, at) => itemTaint(state, nodeIndex, base + at + 1, item));
  return joinTaint(scope.itemsTaint, ...made, ownTaint(state, nodeIndex, base));
}

/** The field of an event that has the labels of its value. Absent if there are none. */
export const taintField = (taint: Taint | undefined): { readonly taint?: Taint } =>
  taint === undefined ? {} : { taint };

/** Why a run cannot take the labels that a handler or a child run adds. */
export function labelFault({ taintLabels }: RunState, { labels }: Labelled): string | undefined {
  if (labels === undefined) return undefined;
  const { size } = new Set([...taintLabels, ...labels]);
  return size <= LIMITS.taintLabels
    ? undefined
    : `the run would have ${size} different labels; at most ${LIMITS.taintLabels}`;
}
