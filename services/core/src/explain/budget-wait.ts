// Explains why a ready execution is not queued: a budget has no room until other executions settle.

import { executionAt, roundOf } from "../log/execution.ts";
import { fundingOf } from "../plan/funds.ts";
import { readiness } from "../plan/join.ts";
import { nodeIdAt } from "../plan/place.ts";
import { amountText } from "../policy/budget.ts";
import { type Answer, type Case, own } from "./case.ts";
import { listText } from "./words.ts";

/** The answer for a pending or retried execution that waits for a budget. Undefined for any other. */
export function budgetAnswer(asked: Case): Answer | undefined {
  const { state, node, iteration } = asked;
  const execution = executionAt(state, node.index, iteration);
  const isUnfunded = state.unfunded.some(
    (each) => each.nodeIndex === node.index && each.iteration === iteration,
  );
  const isReady =
    execution?.status === "pending" &&
    (asked.nodeState.entry !== undefined || readiness(node, asked.nodeState) === "run");
  if (!isUnfunded && !isReady) return undefined;
  const funding = fundingOf(state, node.index, iteration, asked.priceOf);
  if (funding.kind !== "short") return undefined;
  const { meter, missing, whose } = funding.shortage;
  const holders = state.nodes.flatMap((each, index) =>
    roundOf(each).some(([, { reserved }]) => (reserved?.[meter] ?? 0) > 0)
      ? [nodeIdAt(state, index)]
      : [],
  );
  return {
    reason: "WAITING_BUDGET",
    summary: `The budget of the ${whose} is short by ${amountText(meter, missing)}; reserved by ${listText(holders)}.`,
    evidence: [asked.proofs.newest("", 0, "run.started")],
    next: "Wait until one of these settles, or raise the budget with `pawl run top-up`.",
    since: own(asked, "node.retried", "run.recovered"),
  };
}
