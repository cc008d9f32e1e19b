// Rules of budgets. A node that can never fit into its budget is refused when the author saves it, not when a run reaches it.

import { amountText, METER_WORDS, METERS, type SomeAmounts } from "../policy/budget.ts";
import type { PriceOf } from "../policy/price.ts";
import { amountsOf } from "./amounts.ts";
import { isGlueType } from "./node-types.ts";
import { asksModel, reserveOf } from "./reserve.ts";
import type { RawDefinition, RawNode } from "./schema.ts";
import type { Report } from "./violation.ts";

/** Reports nodes that need more than a budget has, and budgets of nodes that use nothing. */
export function checkBudgets({ nodes, budget }: RawDefinition, report: Report): void {
  checkDaily(budget, report);
  nodes.forEach((node, index) => {
    const path = `nodes[${index}]`;
    if (!mayUse(node)) {
      for (const key of ["budget", "reserve"] as const)
        if (node[key] !== undefined)
          report(
            `${path}.${key}`,
            "BUDGET_UNUSED",
            "the scheduler completes this node itself, and it uses nothing; remove it",
            node.id,
          );
      return;
    }
    const need = { ...needOf(node), executions: 1 };
    const tooSmall = (limits: SomeAmounts, whose: string): void => {
      for (const meter of METERS) {
        const limit = limits[meter];
        const asked = need[meter] ?? 0;
        if (limit === undefined || asked <= limit) continue;
        const message = `one execution reserves ${amountText(meter, asked)}, and the budget of the ${whose} has ${amountText(meter, limit)}; lower the one or raise the other`;
        report(path, "BUDGET_TOO_SMALL", message, node.id);
      }
    };
    tooSmall(amountsOf(budget ?? {}), "run");
    tooSmall(amountsOf(node.budget ?? {}), "node");
  });
}

/** A run reserves its whole budget of a day, so it needs one, and the day must have room for it. */
function checkDaily(budget: RawDefinition["budget"], report: Report): void {
  const daily = amountsOf(budget?.per_day ?? {});
  const own = amountsOf(budget ?? {});
  for (const meter of METERS) {
    const limit = daily[meter];
    if (limit === undefined) continue;
    const asked = own[meter];
    if (asked === undefined)
      report(
        "budget.per_day",
        "DAILY_BUDGET_OPEN",
        `a run reserves its own budget of ${METER_WORDS[meter]} for the day, and has none; add it to the budget`,
      );
    else if (asked > limit)
      report(
        "budget.per_day",
        "BUDGET_TOO_SMALL",
        `one run reserves ${amountText(meter, asked)}, and the day has ${amountText(meter, limit)}; lower the one or raise the other`,
      );
  }
}

/** Warns of nodes whose cost a budget can only count afterwards: parallel nodes may pass the limit together. */
export function warnOfBudgets(
  { nodes, budget }: RawDefinition,
  report: Report,
  priceOf: PriceOf,
): void {
  nodes.forEach((node, index) => {
    const hasLimit = (budget?.cost_usd ?? node.budget?.cost_usd) !== undefined;
    if (!hasLimit || node.reserve?.cost_usd !== undefined || isPriced(bodyOf(node), priceOf))
      return;
    const message =
      "its model has no known price, so its cost counts only when an attempt ends, and attempts that run together may pass the budget; add reserve.cost_usd, or the price to PAWL_LLM_PRICES";
    report(`nodes[${index}]`, "COST_NOT_RESERVED", message, node.id);
  });
}

/** Whether the scheduler knows the price of everything that the body asks. */
const isPriced = (
  { type, config: { model } }: Pick<RawNode, "type" | "config">,
  priceOf: PriceOf,
) => !asksModel(type) || (typeof model === "string" && priceOf(model) !== undefined);

/** The rules of map and loop have checked the body. */
const bodyOf = ({ type, config }: RawNode): Pick<RawNode, "type" | "config"> => {
  const body = config["body"] as Partial<RawNode> | undefined;
  const isScope = (type === "map" || type === "loop") && typeof body?.type === "string";
  return isScope ? { type: body.type ?? "", config: body.config ?? {} } : { type, config };
};

const mayUse = (node: RawNode): boolean => !isGlueType(bodyOf(node).type);

function needOf(node: RawNode): SomeAmounts {
  const { type, config } = bodyOf(node);
  const derived = reserveOf(type, config, amountsOf(node.reserve ?? {}));
  const isDeclared = node.reserve?.tokens !== undefined || typeof config["max_tokens"] === "number";
  // The planner lowers a reservation that no author wrote to the size of the budget.
  return isDeclared ? derived : { ...derived, tokens: 0 };
}
