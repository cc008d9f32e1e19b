// `condition`: leaves by the id of the first branch whose expression is true, else by `else`. Expressions are CEL over `ctx` and `input`,
// compiled once per text.

import { compileCondition, type Condition } from "@pawl/core/data/expression";
import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { boundedCache } from "../run/bounded-cache.ts";
import { defineHandler, permanentFailure } from "./handler.ts";

/** The handle taken when no branch is true. */
export const ELSE_HANDLE = "else";
const EXPRESSIONS_MAX = 1_000;

const compiled = boundedCache<string, Condition | string>(EXPRESSIONS_MAX, (text) => {
  const result = compileCondition(text);
  return result.ok ? result.condition : result.message;
});

export const conditionHandler = defineHandler({
  type: "condition",
  config: NODE_CONFIGS.condition,
  unrendered: ["branches"],
  execute: (config, ctx) => {
    for (const branch of config.branches) {
      const condition = compiled(branch.when);
      // The schema compiled it before; only a definition saved by an older release gets here.
      if (typeof condition === "string") return permanentFailure("config_invalid", condition);
      const verdict = condition.evaluate(ctx.scope);
      if (!verdict.ok) {
        return permanentFailure(verdict.reason, `branch ${branch.id}: ${verdict.message}`);
      }
      if (verdict.value) return { output: { branch: branch.id }, handle: branch.id };
    }
    return { output: { branch: ELSE_HANDLE }, handle: ELSE_HANDLE };
  },
});
