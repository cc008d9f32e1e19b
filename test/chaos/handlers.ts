// A handler process of the chaos: its work is an effect on the outside world, made once, and a goto where the config asks for one.
import { defineHandler } from "@pawl/core/handler/define";
import { serve } from "@pawl/handler/serve/serve";
import { z } from "zod";
import { SAID, targetOf } from "../stress/shape.ts";
import { EFFECT_URL, WORK } from "./handler-process.ts";

const url = process.env[EFFECT_URL] ?? "";

const work = defineHandler({
  type: WORK,
  config: z.object({
    jump: z.object({ back: z.string(), times: z.int(), ahead: z.string() }).optional(),
  }),
  run: async (_input, { config: { jump }, once, goto, effectKey, iteration, signal }) => {
    await once("work", "idempotent", async () => {
      const headers = { "idempotency-key": effectKey };
      const { ok, status } = await fetch(url, { method: "POST", headers, signal });
      if (!ok) throw new Error(`the effect answered ${status}`);
      return null;
    });
    if (jump !== undefined) goto(targetOf(jump, iteration));
    return SAID;
  },
});

await serve([work]);
