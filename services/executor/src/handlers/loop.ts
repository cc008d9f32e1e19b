// `loop`: names its iterations: items, a number of times, or as many as its condition needs. The scheduler runs the body once per iteration,
// one after the other; the executor that runs the body evaluates the condition (run/until.ts).

import { LIMITS } from "@pawl/core/data/limits";
import { z } from "zod";
import { defineHandler, permanentFailure, type HandlerResult } from "./handler.ts";

/** A template inside a longer text gives digits; a lone template keeps its number. */
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
    // Without a condition nothing can end the loop earlier, so it fails now and not after all the work.
    if (cut && until === undefined)
      return permanentFailure("max_iterations", `${wanted} iterations; at most ${max}`);
    const width = Math.min(wanted, max);
    const own = items?.slice(0, width) ?? Array.from({ length: width }, (_, index) => index);
    return { expand: { items: own, cut } };
  },
});
