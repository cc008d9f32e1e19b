// The prices of models. The operator writes dollars for a million tokens. Costs are whole micro-dollars, rounded up, so sums are exact.

import type { Usage } from "@pawl/core/log/event";
import type { DeepReadonly } from "@pawl/platform/config/env";
import { z } from "zod";

const dollars = z.number().min(0).max(1_000_000);

/** Dollars for a million tokens, by the name of the model. */
export const pricesSchema = z.record(
  z.string().min(1).max(500),
  z.strictObject({ input: dollars, output: dollars }),
);

type Prices = DeepReadonly<z.output<typeof pricesSchema>>;

/** Adds the cost of a model to usage that names no cost of its own. */
export type Priced = (usage: Usage) => Usage;

/** Prices usage. The cost of a model without a price is unknown: `onUnknown` gets its name once. */
export function pricing(prices: Prices = {}, onUnknown: (model: string) => void): Priced {
  const known = new Map(
    Object.entries(prices).map(([model, { input, output }]) => [
      model,
      { input: BigInt(Math.round(input * 1e6)), output: BigInt(Math.round(output * 1e6)) },
    ]),
  );
  const warned = new Set<string>();
  return (usage) => {
    const { model, costMicros, inputTokens, outputTokens } = usage;
    if (costMicros !== undefined || model === undefined) return usage;
    const price = known.get(model);
    if (price !== undefined) {
      const millionths = BigInt(inputTokens) * price.input + BigInt(outputTokens) * price.output;
      return { ...usage, costMicros: Number((millionths + 999_999n) / 1_000_000n) };
    }
    if (known.size > 0 && !warned.has(model) && warned.size < WARNED_MAX) {
      warned.add(model);
      onUnknown(model);
    }
    return usage;
  };
}

/** Handlers name models as they like, so the set of names has a bound. */
const WARNED_MAX = 1_000;
