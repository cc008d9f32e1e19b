import { defineHandler, serve } from "@pawl/handler";
import { z } from "zod";

const greet = defineHandler({
  type: "hello.greet@1",
  input: z.object({ name: z.string() }),
  output: z.object({ text: z.string() }),
  async run({ name }, ctx) {
    const text = `Hello, ${name}!`;
    await ctx.emit(`${text}\n`); // watchers see it at once
    return { text };
  },
});

await serve([greet]);
