// The part of a config that asks a model. `llm`, `agent` and `supervisor` share it. Texts are templates.

import { z } from "zod";
import { LIMITS } from "../data/limits.ts";
import { wholeMs } from "./schema.ts";
import { rule } from "./zod-issue.ts";

const textSchema = z.string().max(LIMITS.templateBytes);

const messageSchema = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  /** A text, or a list of parts; absent if the assistant only calls tools. */
  content: z.union([textSchema, z.array(z.looseObject({ type: z.string() }))]).nullish(),
});

/** How long one call may take, where a config has a limit of its own. */
export const timeoutSchema = wholeMs(LIMITS.nodeTimeoutMsMax).optional();

/** A model and its settings. */
export const modelShape = {
  /** A provider of the executor's configuration. If absent, its default provider. */
  provider: z.string().min(1).max(LIMITS.labelLength).optional(),
  model: z.string().min(1).max(500),
  system: textSchema.optional(),
  prompt: textSchema.optional(),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: z.int().min(1).max(1_000_000).optional(),
  timeout_ms: timeoutSchema,
};

/** The same, and a whole conversation in place of a prompt. */
export const conversationShape = {
  ...modelShape,
  messages: z.array(messageSchema).min(1).max(1_000).optional(),
  response_format: z.enum(["text", "json"]).default("text"),
  /** False requests the whole answer at once. Then nothing is streamed. */
  stream: z.boolean().default(true),
};

interface Asked {
  readonly prompt?: string | undefined;
  readonly messages?: readonly unknown[] | undefined;
}

/** Exactly one of the two begins a conversation. */
export const hasOneBeginning = ({ prompt, messages }: Asked): boolean =>
  (prompt === undefined) !== (messages === undefined);
export const ONE_BEGINNING = rule("WRONG_TYPE", "needs exactly one of prompt and messages");

/** A model, and a prompt or a whole conversation. */
export const llmSchema = z
  .strictObject({
    ...conversationShape,
    /** Tool declarations, passed to the provider unchanged. */
    tools: z.array(z.record(z.string(), z.unknown())).min(1).max(128).optional(),
  })
  .refine(hasOneBeginning, ONE_BEGINNING);
