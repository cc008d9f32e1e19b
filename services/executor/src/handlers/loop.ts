// `loop`: says over what it goes: items, a number of times, or as often as it takes until its condition holds. The scheduler
// runs the body once after the other; the condition is judged where the body runs (run/until.ts).

import { LIMITS } from "@pawl/core/data/limits";
import { z } from "zod";
import { defineHandler, permanentFailure, type HandlerResult } from "./handler.ts";

/** A template in a longer text gives digits, a lone one keeps its number. */
const times = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d{1,9}$/)
      .transform(Number),
  ])
  .pipe(z.int().min(0));

const loopConfig = z.looseObject({
  items: z.array(z.unknown()).optional(),
  times: times.optional(),
  until: z.string().optional(),
  max_iterations: z.int().min(1).max(LIMITS.scopeWidth).default(LIMITS.loopIterations),
});

export const loopHandler = defineHandler({
  type: "loop",
  config: loopConfig,
  unrendered: ["body", "until"],
  execute: ({ items, times: count, until, max_iterations: max }): HandlerResult => {
    const wanted = items?.length ?? count ?? Infinity;
    const cut = wanted > max;
    // Without a condition nothing can end it earlier: better said now than after all the work.
    if (cut && until === undefined)
      return permanentFailure("max_iterations", `${wanted} iterations; at most ${max}`);
    const width = Math.min(wanted, max);
    const own = items?.slice(0, width) ?? Array.from({ length: width }, (_, index) => index);
    return { expand: { items: own, cut } };
  },
});
