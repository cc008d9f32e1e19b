// A handler process of the replay tests. Its argument names a change of its code since the recording.
import { defineHandler } from "@pawl/core/handler/define";
import { Failed } from "@pawl/core/handler/failure";
import { serve } from "@pawl/handler/serve/serve";
import { z } from "zod";

const [change = ""] = process.argv.slice(2);
if (change === "exit") process.exit(3);

const note = (text: string): void => void process.stdout.write(`${text}\n`);

const pay = defineHandler({
  state: true,
  type: change === "other-type" ? "acme.other" : "acme.pay",
  input: z.object({ mode: z.string() }),
  config: z.object({ prefix: z.string() }),
  run: async ({ mode }, ctx) => {
    if (mode === "fail" && change !== "healed")
      throw new Failed("acme.declined", "no funds", { permanent: true });
    if (mode === "memory") {
      const count = Number(ctx.memory["count"] ?? 0) + (change === "changed" ? 2 : 1);
      ctx.remember("count", count);
      return { seen: ctx.memory["count"] ?? null, run: ctx.state?.runId, taint: ctx.taint };
    }
    await ctx.emit("paying");
    ctx.log("info", `for ${ctx.config.prefix}`);
    const made = await ctx.once("pay", "idempotent", () => {
      note("made pay");
      return { receipt: `${ctx.config.prefix}-1` };
    });
    if (change === "more-effects")
      await ctx.once("mail", "idempotent", () => {
        note("made mail");
        return null;
      });
    return change === "changed" ? { receipt: "changed" } : made;
  },
});

await serve([pay], { name: "replay" });
