// What one execution of a node reserves of its budgets, if its definition is all that is known.

import { LIMITS } from "../data/limits.ts";
import type { SomeAmounts } from "../policy/budget.ts";

/** The types whose handler asks a model. */
const MODEL_TYPES: ReadonlySet<string> = new Set(["llm", "agent", "supervisor"]);

export const asksModel = (type: string): boolean => MODEL_TYPES.has(type);

/**
 * The author's own `reserve` counts. Without it, a node that asks a model reserves the tokens that the answer may have. The planner adds the
 * prompt and the cost (`plan/need.ts`). No other type reserves tokens or cost.
 */
export function reserveOf(
  type: string,
  config: Readonly<Record<string, unknown>>,
  reserve: SomeAmounts = {},
): SomeAmounts {
  if (reserve.tokens !== undefined || !asksModel(type)) return reserve;
  const { max_tokens: asked } = config;
  return { ...reserve, tokens: typeof asked === "number" ? asked : LIMITS.modelReserveTokens };
}
