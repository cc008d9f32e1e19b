// The configs of repetition and nesting: `map`, `loop` and `subworkflow`. config-rules.ts checks the config of a body's own type, because
// all types are known there.

import { z } from "zod";
import { compileCondition } from "../data/expression.ts";
import { LIMITS } from "../data/limits.ts";
import { nameSchema, nodeSchema, typeSchema } from "./schema.ts";
import { checkedText, rule } from "./zod-issue.ts";

/** A text with a template in it, which gives `what`. */
export const templateFor = (what: string) =>
  z
    .string()
    .refine(isTemplate, rule("WRONG_TYPE", `must be ${what}, or a template that gives one`));

/** True for a text with a template in it. */
export const isTemplate = (text: string): boolean => text.includes("{{");

/** Types that cannot be a body: they repeat, branch, write for the whole node or belong to the graph itself. For a whole graph as body, use a subworkflow. */
const NO_BODY: ReadonlySet<string> = new Set([
  "map",
  "loop",
  "start",
  "end",
  "condition",
  "remember",
  "agent",
  "supervisor",
]);

const bodySchema = nodeSchema
  .pick({ config: true, input: true, retry: true, timeout_ms: true })
  .extend({
    type: typeSchema.refine(
      (type) => !NO_BODY.has(type),
      rule("BAD_BODY", `a body cannot be one of ${[...NO_BODY].join(", ")}; use a subworkflow`),
    ),
  });

const itemsSchema = z.union([z.array(z.unknown()).max(LIMITS.scopeWidth), templateFor("a list")]);

export const mapSchema = z.strictObject({
  items: itemsSchema,
  body: bodySchema,
  parallelism: z.int().min(1).max(LIMITS.scopeParallelism).default(10),
  on_item_failure: z.enum(["fail", "continue"]).default("fail"),
});

const untilSchema = checkedText((text) => {
  const compiled = compileCondition(text, "iteration");
  return compiled.ok ? undefined : compiled;
});

export const loopSchema = z
  .strictObject({
    items: itemsSchema.optional(),
    times: z.union([z.int().min(0).max(LIMITS.scopeWidth), templateFor("a number")]).optional(),
    body: bodySchema,
    until: untilSchema.optional(),
    max_iterations: z.int().min(1).max(LIMITS.scopeWidth).default(LIMITS.loopIterations),
  })
  .refine(
    ({ items, times }) => items === undefined || times === undefined,
    rule("BAD_LOOP", "a loop may have items or times, not both; remove one"),
  )
  .refine(
    ({ items, times, until }) => (items ?? times ?? until) !== undefined,
    rule("BAD_LOOP", "a loop needs items, times or until"),
  );

export const subworkflowSchema = z.strictObject({
  workflow_id: nameSchema,
  version: z.int().min(1).max(2_147_483_647).optional(),
  /** Any JSON, with templates. The node's own parameters by default. */
  input: z.unknown().optional(),
});
