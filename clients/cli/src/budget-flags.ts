// The flags of budgets, and budgets and usage as text.

import { amountText, usdText } from "@pawl/client";
import { type Budget, type Run, OnExceeded } from "@pawl/proto/pawl/v1/run_pb";
import { type Command, InvalidArgumentError } from "commander";
import { wholeNumber } from "./grammar.ts";
import { UsageError } from "./session.ts";

export interface BudgetFlags {
  readonly tokens?: number;
  readonly costUsd?: number;
  readonly nodeExecutions?: number;
}

/** The flags of a budget: limits of a start, or amounts to add. */
export const budgetFlags = (command: Command): Command =>
  command
    .option("--tokens <number>", "tokens of models", amount)
    .option("--cost-usd <dollars>", "dollars, such as 0.25", dollars)
    .option("--node-executions <number>", "starts of nodes by executors", amount);

function amount(text: string): number {
  const value = wholeNumber(text);
  if (value < 1) throw new InvalidArgumentError("It must be above 0.");
  return value;
}

function dollars(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value) || value < 0.000001)
    throw new InvalidArgumentError("It must be a number of dollars above 0, such as 0.25.");
  return value;
}

/** The budget that the flags name. Undefined if they name none. */
export function budgetOf({ tokens, costUsd, nodeExecutions }: BudgetFlags) {
  const isNone = (tokens ?? costUsd ?? nodeExecutions) === undefined;
  return isNone ? undefined : { tokens, costUsd, nodeExecutions };
}

/** A budget that an assistant has, in the form of a request. */
export const askedBudget = ({ tokens, costMicros, nodeExecutions, onExceeded }: Budget) => ({
  ...(tokens === 0n ? {} : { tokens: Number(tokens) }),
  ...(costMicros === 0n ? {} : { costUsd: Number(costMicros) / 1e6 }),
  ...(nodeExecutions === 0n ? {} : { nodeExecutions: Number(nodeExecutions) }),
  ...(onExceeded === OnExceeded.FAIL ? { onExceeded: "fail" as const } : {}),
  ...(onExceeded === OnExceeded.PAUSE ? { onExceeded: "pause" as const } : {}),
});

/** The amounts that the flags name. @throws UsageError if they name none */
export function amountsOf(flags: BudgetFlags) {
  const named = budgetOf(flags);
  if (named === undefined)
    throw new UsageError("Give --tokens, --cost-usd or --node-executions: what to add.");
  return named;
}

/** What a run has used. Empty if it used no model and has no budget. */
export function usedText({ usage, budget }: Run): string {
  if (usage === undefined) return "";
  const { inputTokens, outputTokens, costMicros, nodeExecutions } = usage;
  if (budget === undefined && inputTokens + outputTokens + costMicros === 0n) return "";
  const cost = costMicros === 0n ? "" : `, ${usdText(Number(costMicros))}`;
  const starts = amountText("executions", Number(nodeExecutions));
  return `${amountText("tokens", Number(inputTokens + outputTokens))}${cost}, ${starts}`;
}

/** The limits of a run. Empty if nothing limits it. */
export function budgetText({ budget }: Run): string {
  if (budget === undefined) return "";
  const limits = [
    budget.tokens > 0n && amountText("tokens", Number(budget.tokens)),
    budget.costMicros > 0n && usdText(Number(budget.costMicros)),
    budget.nodeExecutions > 0n && amountText("executions", Number(budget.nodeExecutions)),
  ].filter((limit) => limit !== false);
  return `${limits.join(", ")}, then ${budget.onExceeded === OnExceeded.PAUSE ? "pause" : "fail"}`;
}
