// `llm`: asks a model and streams the answer. Text and media are stream deltas, in order. The output is the whole answer, with tool calls
// unchanged and the tokens that the provider counted.

import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { z } from "zod";
import { askModel, jsonIn, rendered, renderedMessage } from "../llm/ask.ts";
import type { LlmInput, LlmMessage } from "../llm/provider.ts";
import type { Providers } from "../llm/providers.ts";
import { defineHandler, type Handler } from "./handler.ts";

/** The author's schema after rendering. */
const configSchema = z.strictObject({
  ...NODE_CONFIGS.llm.shape,
  system: rendered.optional(),
  prompt: rendered.optional(),
  messages: z.array(renderedMessage).optional(),
});
type Config = z.output<typeof configSchema>;

/** Makes the handler for the configured providers. */
export const llmHandler = (providers: Providers): Handler =>
  defineHandler({
    type: "llm",
    config: configSchema,
    run: async (_input, { config, ...ctx }) => {
      const asked = { ...config, input: inputOf(config), isShown: config.stream };
      const envelope = await askModel(providers, asked, ctx);
      return config.response_format === "text" ? envelope : { ...envelope, json: jsonIn(envelope) };
    },
  });

function inputOf(config: Config): LlmInput {
  const { temperature, max_tokens: maxTokens, tools } = config;
  return {
    messages: messagesOf(config),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(tools === undefined ? {} : { tools }),
    responseFormat: config.response_format,
    isStreamed: config.stream,
  };
}

/** The beginning of a conversation: the system message, then the prompt or the messages. */
export const messagesOf = ({
  system,
  prompt,
  messages,
}: Pick<Config, "system" | "prompt" | "messages">): LlmMessage[] => [
  ...(system === undefined ? [] : [{ role: "system", content: system }]),
  ...(messages ?? [{ role: "user", content: prompt ?? "" }]).map(asText),
];

/** Content is a text or a list of parts. A template may have replaced it with any other value. */
function asText(message: LlmMessage): LlmMessage {
  const { content } = message;
  if (content === undefined || content === null || typeof content === "string") return message;
  return Array.isArray(content) ? message : { ...message, content: JSON.stringify(content) };
}
