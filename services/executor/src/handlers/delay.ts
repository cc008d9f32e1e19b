// `delay`: delays the nodes that follow. It uses no capacity and no timer: the scheduler keeps the delay, which survives crashes.

import { LIMITS } from "@pawl/core/data/limits";
import { z } from "zod";
import { defineHandler } from "./handler.ts";

/** A template inside a longer text gives digits; a lone template keeps its number. */
const delayMs = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d{1,12}$/)
      .transform(Number),
  ])
  .pipe(z.int().min(0).max(LIMITS.delayMsMax));

export const delayHandler = defineHandler({
  type: "delay",
  config: z.strictObject({ delay_ms: delayMs }),
  execute: (config) => ({
    output: { delayMs: config.delay_ms },
    queueDelayMs: config.delay_ms,
  }),
});
