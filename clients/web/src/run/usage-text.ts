// Usage and budgets as short texts of the console.

import { amountText, usdText } from "@pawl/client";
import type { Usage } from "@pawl/core/log/event";
import type { RunView } from "@pawl/core/log/view";

/**
 * What a run has used, beside its limits, and what running nodes reserve: `1200 of 5000 tokens (300 reserved), $0.02`. Empty if it used no
 * model and has no budget.
 */
export function usageText({ spending: { usage, budget, executions, reserved } }: RunView): string {
  if (usage === undefined && budget === undefined) return "";
  const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
  const cost = usage?.costMicros ?? 0;
  const parts = [
    (tokens > 0 || budget?.tokens !== undefined) &&
      `${tokens}${limitText(budget?.tokens, String)} tokens${heldText(reserved.tokens, String)}`,
    (cost > 0 || budget?.costMicros !== undefined) &&
      `${usdText(cost)}${limitText(budget?.costMicros, usdText)}${heldText(reserved.costMicros, usdText)}`,
    budget?.executions !== undefined &&
      `${executions} of ${amountText("executions", budget.executions)}${heldText(reserved.executions, String)}`,
  ];
  return parts.filter((part) => part !== false).join(", ");
}

const limitText = (limit: number | undefined, text: (amount: number) => string): string =>
  limit === undefined ? "" : ` of ${text(limit)}`;

const heldText = (amount: number, text: (amount: number) => string): string =>
  amount === 0 ? "" : ` (${text(amount)} reserved)`;

/** What a node has used. */
export function nodeUsageText({ inputTokens, outputTokens, costMicros, model }: Usage): string {
  const cost = costMicros === undefined ? "" : `, ${usdText(costMicros)}`;
  const by = model === undefined ? "" : ` (${model})`;
  return `${inputTokens} tokens read, ${outputTokens} written${cost}${by}`;
}
