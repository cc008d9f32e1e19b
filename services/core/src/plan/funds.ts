// Budgets in the planner. An execution reserves before it is queued, so no executor can start what a budget does not cover. The hand-off to
// an executor and the queue both take queued executions only.
//
// Parallel nodes cannot pass a budget together: each reservation is in the fold, and the version of the run protects the fold. Two
// schedulers that plan the same run at once reserve the same funds, and only one of them commits.
//
// A node that does not fit now waits as long as other reservations may settle below their amount. A node that needs more than the budget
// has left never fits: the run fails or pauses. If the budget of the node itself is short, the node fails.
//
// A node that reserves nothing of a meter is judged after the fact: it does not start once more than the limit is spent. A limit that is used
// up exactly still lets it start, because most such nodes use nothing of the meter.

import { type Ledger, spentOf } from "../log/ledger.ts";
import type { Fact } from "../log/event.ts";
import type { RunState } from "../log/state.ts";
import {
  type Amounts,
  amountText,
  METERS,
  type Meter,
  NOTHING,
  plus,
  present,
  type SomeAmounts,
} from "../policy/budget.ts";
import { NO_PRICES, type PriceOf } from "../policy/price.ts";
import { needOf } from "./need.ts";
import { graphNodeAt, nodeIdAt, nodeStateAt, RUN_PLACE } from "./place.ts";
import { endRun } from "./undo.ts";

/** Whether an execution may be queued now. */
type Funding =
  | { readonly kind: "granted"; readonly reserved: SomeAmounts | undefined }
  /** Other reservations may settle below their amount. */
  | { readonly kind: "short"; readonly shortage: Shortage }
  /** The budget of the run can never cover it. */
  | { readonly kind: "run_exceeded"; readonly message: string }
  /** The budget of the node can never cover it. */
  | { readonly kind: "node_exceeded"; readonly message: string };

/** How much is missing now. */
interface Shortage {
  readonly meter: Meter;
  readonly missing: number;
  /** Whose budget it is. */
  readonly whose: "run" | "node";
}

const UNLIMITED: Funding = { kind: "granted", reserved: undefined };

/** Whether budgets limit the executions of a node. They do not limit the compensation of a run. */
export const isBudgeted = (state: RunState, index: number): boolean =>
  state.ending === undefined &&
  (state.budget !== undefined || graphNodeAt(state, index).definition.budget !== undefined);

/** The reservations of one round of the planner, whose facts are not in the fold yet. */
export class Funds {
  readonly #state: RunState;
  readonly #priceOf: PriceOf;
  #taken: Amounts = NOTHING;
  #takenByNode: Map<number, Amounts> | undefined;
  #waiting: Set<number> | undefined;
  /** The node that ends or pauses the run, and why. */
  exceeded: { readonly nodeIndex: number; readonly message: string } | undefined;

  constructor(state: RunState, priceOf = NO_PRICES) {
    this.#state = state;
    this.#priceOf = priceOf;
  }

  /** Whether a node or its scope waits for a budget. The planner looks at it again in the next round. */
  holdsBack(nodeIndex: number): boolean {
    return this.#waiting?.has(nodeIndex) === true;
  }

  /** Reserves for an execution that is about to be queued. */
  ask(nodeIndex: number, iteration: number): Funding {
    const state = this.#state;
    if (!isBudgeted(state, nodeIndex)) return UNLIMITED;
    const need = needOf(state, nodeIndex, iteration, this.#priceOf);
    const { budget: own = {} } = graphNodeAt(state, nodeIndex).definition;
    const taken = this.#takenByNode?.get(nodeIndex) ?? NOTHING;
    const node = judge(own, nodeStateAt(state, nodeIndex).ledger, taken, need, "node");
    const run = judge(state.budget ?? {}, state.ledger, this.#taken, need, "run");
    const found = node?.kind === "node_exceeded" ? node : (run ?? node);
    if (found?.kind === "run_exceeded") this.exceeded ??= { nodeIndex, message: found.message };
    if (found !== undefined) {
      (this.#waiting ??= new Set()).add(nodeIndex);
      return found;
    }
    this.#taken = plus(this.#taken, need);
    (this.#takenByNode ??= new Map()).set(nodeIndex, plus(taken, need));
    return { kind: "granted", reserved: present(need) };
  }
}

/** How the execution would fare now, for explanations. */
export const fundingOf = (
  state: RunState,
  nodeIndex: number,
  iteration: number,
  priceOf: PriceOf = NO_PRICES,
): Funding => new Funds(state, priceOf).ask(nodeIndex, iteration);

function judge(
  limits: SomeAmounts,
  ledger: Ledger,
  taken: Amounts,
  need: Amounts,
  whose: "run" | "node",
): Exclude<Funding, { kind: "granted" }> | undefined {
  const spent = spentOf(ledger);
  let short: Shortage | undefined;
  for (const meter of METERS) {
    const limit = limits[meter];
    if (limit === undefined) continue;
    const left = limit - spent[meter];
    if (left < 0)
      return { kind: `${whose}_exceeded`, message: excessText(whose, meter, spent, limit) };
    if (need[meter] > left) {
      const has = `the budget of ${amountText(meter, limit)} has ${amountText(meter, left)} left`;
      const message = `${has}, and one execution reserves ${amountText(meter, need[meter])}`;
      return { kind: `${whose}_exceeded`, message };
    }
    const missing = need[meter] + ledger.reserved[meter] + taken[meter] - left;
    if (need[meter] > 0 && missing > 0) short ??= { meter, missing, whose };
  }
  return short === undefined ? undefined : { kind: "short", shortage: short };
}

const excessText = (whose: string, meter: Meter, spent: Amounts, limit: number): string =>
  `the ${whose} used ${amountText(meter, spent[meter])} of a budget of ${amountText(meter, limit)}`;

/**
 * The meter of which a run has used more than its budget, because a handler used more than was reserved. A run that pauses completes what it
 * has started, and pauses when a node is to start.
 */
export function overspent({ budget, ledger }: RunState): string | undefined {
  if (budget === undefined || budget.onExceeded === "pause") return undefined;
  const spent = spentOf(ledger);
  const meter = METERS.find((each) => spent[each] > (budget[each] ?? Infinity));
  return meter && excessText("run", meter, spent, budget[meter] ?? 0);
}

/** The facts that end or pause a run whose budget is exceeded. */
export function exceededFacts(
  state: RunState,
  { nodeIndex, message }: { readonly nodeIndex?: number; readonly message: string },
  now: number,
): Fact[] {
  const failedNodeId = nodeIndex === undefined ? "" : nodeIdAt(state, nodeIndex);
  const at = failedNodeId === "" ? "" : `node ${failedNodeId}: `;
  const why = `${at}${message}`;
  if (state.budget?.onExceeded === "pause") {
    const note = { scope: "run", who: "pawl", reason: why, waitingFor: "budget" } as const;
    const payload = { from: state.status, to: "paused", ...note } as const;
    return [{ ...RUN_PLACE, type: "run.status.changed", payload }];
  }
  const cause = "budget_exceeded";
  const ending = { end: "failed", failedNodeId, message: `${cause}: ${why}`, cause } as const;
  return endRun(state, { ending, reason: `the budget of the run is exceeded: ${why}`, now });
}
