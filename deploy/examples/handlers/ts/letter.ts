// The TypeScript part of polyglot-order: it streams a letter word by word, and sends it once.
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineHandler, serve } from "@pawl/handler";
import { z } from "zod";

/** The folder that replaces a mail server. */
const OUTBOX = process.env["OUTBOX"] ?? join(tmpdir(), "pawl-outbox");
const REVIEW_SCORE = 0.5;

const Order = z.object({
  order: z.string(),
  customer: z.string(),
  email: z.string(),
  pieces: z.int().min(1),
  cents: z.int().min(0),
  score: z.number().min(0).max(1),
});

function textOf({ order, customer, pieces, cents, score }: z.infer<typeof Order>): string {
  const next =
    score < REVIEW_SCORE ? "It leaves our house today." : "A person looks at it before it leaves.";
  const total = (cents / 100).toFixed(2);
  return `Dear ${customer}, thank you for order ${order}: ${pieces} pieces for ${total} EUR. ${next}`;
}

/** The key names the letter, so a repeated call writes the same file and no second one. */
async function send(key: string, email: string, text: string): Promise<{ letter: string }> {
  const letter = `${key.replaceAll(/\W/g, "-")}.txt`;
  await mkdir(OUTBOX, { recursive: true });
  await writeFile(join(OUTBOX, letter), `To: ${email}\n\n${text}\n`);
  return { letter };
}

const letter = defineHandler({
  type: "shop.letter@1",
  description: "Streams a letter about an order, and sends it.",
  input: Order,
  output: z.object({ letter: z.string(), characters: z.int() }),
  run: async (order, ctx) => {
    const text = textOf(order);
    for (const word of text.split(/(?<= )/)) await ctx.emit(word);
    // A later attempt gets the recorded result and sends nothing.
    const sent = await ctx.once("send", "idempotent", () => send(ctx.effectKey, order.email, text));
    return { letter: sent.letter, characters: text.length };
  },
});

await serve([letter]);
