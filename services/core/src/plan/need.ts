// What an execution reserves of its budgets. The author's `reserve` counts. For a node that asks a model, the planner estimates what the author
// left out. The prompt follows from the bytes of the values that the node reads, and the answer from its limit. The cost follows from the
// price of the model.

import { asksModel, reserveOf } from "../definition/reserve.ts";
import { readBytes } from "../log/context.ts";
import { executionDefinition } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import type { Amounts, Meter, SomeAmounts } from "../policy/budget.ts";
import { costOf, type PriceOf } from "../policy/price.ts";
import { graphNodeAt } from "./place.ts";

const BYTES_PER_TOKEN = 4;

/** What an execution reserves. An estimate is at most the budget itself, but not below the `max_tokens` that the author wrote. */
export function needOf(
  state: RunState,
  index: number,
  iteration: number,
  priceOf: PriceOf,
): Amounts {
  const { reserve: authored, budget: own, scope } = graphNodeAt(state, index).definition;
  const { type, config } = executionDefinition(state, index, iteration);
  // The reserve of an agent is for a turn. A tool that it calls reserves what its own type does.
  const isTool = scope?.agent !== undefined && type !== "agent";
  const reserve: SomeAmounts = (isTool ? undefined : authored) ?? {};
  if (!asksModel(type)) return { tokens: 0, costMicros: 0, ...reserve, executions: 1 };
  const { max_tokens: limit, model } = config;
  const { tokens: answer = 0 } = reserveOf(type, config);
  const bytes = readBytes(state, index, iteration) + JSON.stringify(config).length;
  const prompt = Math.ceil(bytes / BYTES_PER_TOKEN);
  const capped = (meter: Meter, amount: number): number =>
    Math.min(amount, state.budget?.[meter] ?? Infinity, own?.[meter] ?? Infinity);
  const least = typeof limit === "number" ? limit : 0;
  const tokens = reserve.tokens ?? Math.max(least, capped("tokens", prompt + answer));
  const price = typeof model === "string" ? priceOf(model) : undefined;
  const asked = reserve.tokens ?? prompt + answer;
  const input = Math.min(prompt, asked);
  const cost = price === undefined ? 0 : costOf(price, { input, output: asked - input });
  const costMicros = reserve.costMicros ?? capped("costMicros", cost);
  return { tokens, costMicros, executions: 1 };
}
