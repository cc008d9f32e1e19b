// One piece of an OpenAI-compatible chat completion, streamed or whole. The schema covers only the fields that are used, because
// servers differ in the rest. A piece that does not match is a fault of the provider.

import { z } from "zod";

const toolCallSchema = z.looseObject({
  index: z.int().min(0).max(1_000).optional(),
  id: z.string().nullish(),
  function: z
    .looseObject({ name: z.string().nullish(), arguments: z.string().nullish() })
    .nullish(),
});

const imageSchema = z.looseObject({ image_url: z.looseObject({ url: z.string() }) });

const partSchema = z.looseObject({
  type: z.string(),
  text: z.string().nullish(),
  image_url: z.looseObject({ url: z.string() }).nullish(),
});

const messageSchema = z.looseObject({
  content: z.union([z.string(), z.array(partSchema)]).nullish(),
  tool_calls: z.array(toolCallSchema).nullish(),
  images: z.array(imageSchema).nullish(),
});

export const chatChunkSchema = z.looseObject({
  error: z.unknown().optional(),
  choices: z
    .array(
      z.looseObject({
        index: z.number().optional(),
        /** In a streamed piece. */
        delta: messageSchema.nullish(),
        /** In a whole answer. */
        message: messageSchema.nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: z
    .looseObject({ prompt_tokens: z.number().nullish(), completion_tokens: z.number().nullish() })
    .nullish(),
});

export type ChatChunk = z.output<typeof chatChunkSchema>;
export type ChatMessage = z.output<typeof messageSchema>;
export type ChatPart = z.output<typeof partSchema>;
