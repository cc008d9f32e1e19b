// `llm`: asks a model and streams the answer. Text and media are stream deltas, in order. The output is the whole answer, with tool calls
// unchanged and the tokens that the provider counted.

import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { Failed } from "@pawl/core/handler/failure";
import { result } from "@pawl/core/handler/result";
import type { CallFacts } from "@pawl/core/handler/served";
import { z } from "zod";
import {
  ProviderFault,
  type LlmEnvelope,
  type LlmInput,
  type LlmMessage,
  type LlmProvider,
} from "../llm/provider.ts";
import type { Providers } from "../llm/providers.ts";
import { defineHandler, failedForGood, type Handler } from "./handler.ts";

/** A lone template may have become any value, but a model reads text. */
const rendered = z
  .unknown()
  .transform((value) => (typeof value === "string" ? value : JSON.stringify(value)));

/** The author's schema after rendering. */
const configSchema = z.strictObject({
  ...NODE_CONFIGS.llm.shape,
  system: rendered.optional(),
  prompt: rendered.optional(),
  messages: z.array(z.looseObject({ role: z.string() })).optional(),
});
type Config = z.output<typeof configSchema>;

/** Makes the handler for the configured providers. */
export const llmHandler = (providers: Providers): Handler =>
  defineHandler({
    type: "llm",
    config: configSchema,
    run: async (_input, { config, ...ctx }) => {
      const provider = providers.find(config.provider, config.model);
      if (provider === undefined) {
        const message = `this executor has no model provider ${JSON.stringify(config.provider)}; the operator adds it to PAWL_LLM_PROVIDERS`;
        throw failedForGood("unknown_provider", message);
      }
      const timeoutMs = Math.min(config.timeout_ms ?? provider.timeoutMs, ctx.timeoutMs);
      const signal = AbortSignal.any([ctx.signal, AbortSignal.timeout(timeoutMs)]);
      try {
        return resultOf(config, await answerOf(provider, config, { ctx, signal }));
      } catch (error) {
        throw failureOf(error, signal, timeoutMs);
      }
    },
  });

async function answerOf(
  provider: LlmProvider,
  config: Config,
  {
    ctx,
    signal,
  }: { readonly ctx: Pick<CallFacts, "emit" | "emitMedia">; readonly signal: AbortSignal },
): Promise<LlmEnvelope> {
  for await (const chunk of provider.stream(config.model, inputOf(config), signal)) {
    if (chunk.kind === "final") return chunk.envelope;
    if (!config.stream) continue;
    await (chunk.kind === "partial" ? ctx.emit(chunk.text) : ctx.emitMedia(chunk.media));
  }
  throw new ProviderFault("provider_error", "the provider ended without an answer");
}

function inputOf(config: Config): LlmInput {
  const { system, prompt, messages, temperature, max_tokens: maxTokens, tools } = config;
  return {
    messages: [
      ...(system === undefined ? [] : [{ role: "system", content: system }]),
      ...(messages ?? [{ role: "user", content: prompt ?? "" }]).map(asText),
    ],
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(tools === undefined ? {} : { tools }),
    responseFormat: config.response_format,
    isStreamed: config.stream,
  };
}

/** Content is a text or a list of parts. A template may have replaced it with any other value. */
function asText(message: LlmMessage): LlmMessage {
  const { content } = message;
  if (content === undefined || content === null || typeof content === "string") return message;
  return Array.isArray(content) ? message : { ...message, content: JSON.stringify(content) };
}

function resultOf(config: Config, envelope: LlmEnvelope) {
  const { input_tokens: inputTokens = 0, output_tokens: outputTokens = 0 } = envelope.usage ?? {};
  const counted = envelope.usage === null ? {} : { usage: { inputTokens, outputTokens } };
  if (config.response_format === "text") return result(envelope, counted);
  try {
    return result({ ...envelope, json: JSON.parse(envelope.text) as unknown }, counted);
  } catch {
    const { finish_reason: reason } = envelope;
    throw new Failed("provider_error", `the model's answer is not JSON; it ended with ${reason}`);
  }
}

function failureOf(error: unknown, signal: AbortSignal, limitMs: number): unknown {
  if (error instanceof Failed) return error;
  if (error instanceof ProviderFault) {
    const { faultCause: cause, message } = error;
    const { permanent = false, retryAfterMs, timeoutMs, details } = error.options;
    if (timeoutMs !== undefined) return new Failed("timeout", message, { timeoutMs });
    // A timeout under an aborted signal is the call's own limit.
    if (!signal.aborted || cause !== "timeout")
      return new Failed(cause, message, { permanent, retryAfterMs, details });
  }
  if (!signal.aborted) return error;
  // The provider stopped because of the signal. If the attempt itself was aborted, no caller reads this result.
  const message = `the model did not answer within ${limitMs} ms`;
  return new Failed("timeout", message, { timeoutMs: limitMs });
}
