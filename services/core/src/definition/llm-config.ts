// The config of an `llm` node: a model, and a prompt or a whole conversation. Texts are templates.

import { z } from "zod";
import { LIMITS } from "../data/limits.ts";
import { rule } from "./zod-issue.ts";

const TOKENS_MAX = 1_000_000;
const MESSAGES_MAX = 1_000;
const TOOLS_MAX = 128;

const textSchema = z.string().max(LIMITS.templateBytes);

const messageSchema = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  /** A text, or a list of parts; absent if the assistant only calls tools. */
  content: z.union([textSchema, z.array(z.looseObject({ type: z.string() }))]).nullish(),
});

export const llmConfig = z
  .strictObject({
    /** A provider of the executor's configuration; its default provider if absent. */
    provider: z.string().min(1).max(LIMITS.labelLength).optional(),
    model: z.string().min(1).max(500),
    system: textSchema.optional(),
    prompt: textSchema.optional(),
    messages: z.array(messageSchema).min(1).max(MESSAGES_MAX).optional(),
    temperature: z.number().min(0).max(2).optional(),
    max_tokens: z.int().min(1).max(TOKENS_MAX).optional(),
    /** Tool declarations, passed to the provider unchanged. */
    tools: z.array(z.record(z.string(), z.unknown())).min(1).max(TOOLS_MAX).optional(),
    response_format: z.enum(["text", "json"]).default("text"),
    /** False asks for the whole answer at once; then nothing is streamed. */
    stream: z.boolean().default(true),
    timeout_ms: z.int().min(1).max(LIMITS.nodeTimeoutMsMax).optional(),
  })
  .refine(
    ({ prompt, messages }) => (prompt === undefined) !== (messages === undefined),
    rule("WRONG_TYPE", "needs exactly one of prompt and messages"),
  );
