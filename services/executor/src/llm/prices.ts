// The cost of usage by the prices of models.

import type { Usage } from "@pawl/core/log/event";
import { costOf, type Price, priceTable } from "@pawl/core/policy/price";
import type { DeepReadonly } from "@pawl/platform/config/env";

/** Adds the cost of a model to usage that names no cost of its own. */
export type Priced = (usage: Usage) => Usage;

/** Prices usage. The cost of a model without a price is unknown: `onUnknown` gets its name once. */
export function pricing(
  prices: DeepReadonly<Record<string, Price>> = {},
  onUnknown: (model: string) => void,
): Priced {
  const priceOf = priceTable(prices);
  const hasPrices = Object.keys(prices).length > 0;
  const warned = new Set<string>();
  return (usage) => {
    const { model, costMicros, inputTokens: input, outputTokens: output } = usage;
    if (costMicros !== undefined || model === undefined) return usage;
    const price = priceOf(model);
    if (price !== undefined) return { ...usage, costMicros: costOf(price, { input, output }) };
    if (hasPrices && !warned.has(model) && warned.size < WARNED_MAX) {
      warned.add(model);
      onUnknown(model);
    }
    return usage;
  };
}

/** Handlers name models as they like, so the set of names has a bound. */
const WARNED_MAX = 1_000;
