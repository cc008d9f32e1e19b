// The state of the scope of a node: the iterations of a map or a loop, or the turns and tool calls of an agent.

import type { Taint } from "../policy/taint.ts";
import type { CallState } from "./agent-state.ts";
import type { Usage } from "./event.ts";
import type { ExecutionState, Plain } from "./state.ts";

class NewScope {
  /** How many iterations there are. Of an agent: how many have begun, at least one. */
  width: number;
  /** The limit cut the list of items, so the node fails after the last one. */
  readonly isCut: boolean;
  /** The items as a JSON array, while the scope is open. */
  itemsJson: string;
  /** The executions queued so far: iteration n is at n - 1, and the length is the index of the next one. */
  readonly items: ExecutionState[] = [];
  /** Places of executions that were not queued yet, although later ones have settled: a repaired run took those over. In order. */
  readonly gaps: Set<number> = new Set();
  /** How many executions are queued and not settled. */
  openCount = 0;
  settledCount = 0;
  /** The item that failed first, in log order; the first item is 1. */
  firstFailed: number | undefined;
  /** An iteration ended the loop. */
  isStopped = false;
  /** The size that the outputs so far have in the joined array. */
  outputBytes = 2;
  /** The next iterations wait until then. */
  releaseAt: number | undefined;
  /** The labels of the items. */
  itemsTaint: Taint | undefined;
  /** Of an agent: the call of each iteration, also of those that have not begun; null for a turn. Empty for a map and a loop. */
  readonly calls: (CallState | null)[] = [];
  /** The tokens of all turns of an agent. */
  usage: Usage | undefined;

  constructor(width: number, isCut: boolean, itemsJson: string) {
    this.width = width;
    this.isCut = isCut;
    this.itemsJson = itemsJson;
  }
}
export type ScopeState = Plain<NewScope>;

/** The scope that `node.expanded` opens. */
export const newScopeState = (width: number, isCut: boolean, itemsJson: string): ScopeState =>
  new NewScope(width, isCut, itemsJson);
