// `llm`: asks a model and streams the answer. Text and media are partial output, in order; the output is the whole answer, with tool
// calls unchanged and the tokens that the provider counted.

import { NODE_CONFIGS, type NodeConfig } from "@pawl/core/definition/node-types";
import { z } from "zod";
import {
  ProviderFault,
  type LlmEnvelope,
  type LlmInput,
  type LlmMessage,
  type LlmProvider,
} from "../llm/provider.ts";
import type { Providers } from "../llm/providers.ts";
import {
  defineHandler,
  failure,
  failureUntil,
  permanentFailure,
  timeoutFailure,
  type Handler,
  type HandlerContext,
  type HandlerFailure,
  type HandlerResult,
} from "./handler.ts";

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
type Config = Omit<NodeConfig<"llm">, "messages"> & {
  readonly messages?: readonly LlmMessage[] | undefined;
};

/** Makes the handler for the configured providers. */
export const llmHandler = (providers: Providers): Handler =>
  defineHandler({
    type: "llm",
    config: configSchema,
    execute: async (config, ctx) => {
      const provider = providers.find(config.provider, config.model);
      if (provider === undefined) {
        const message = `this executor has no model provider ${JSON.stringify(config.provider)}; the operator adds it to PAWL_LLM_PROVIDERS`;
        return permanentFailure("unknown_provider", message);
      }
      const timeoutMs = Math.min(config.timeout_ms ?? provider.timeoutMs, ctx.timeoutMs);
      const signal = AbortSignal.any([ctx.signal, AbortSignal.timeout(timeoutMs)]);
      try {
        return resultOf(config, await answerOf(provider, config, { ctx, signal }));
      } catch (error) {
        return failureOf(error, signal, timeoutMs);
      }
    },
  });

async function answerOf(
  provider: LlmProvider,
  config: Config,
  { ctx, signal }: { readonly ctx: HandlerContext; readonly signal: AbortSignal },
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

/** Content is a text or a list of parts; a template may have replaced it with any other value. */
function asText(message: LlmMessage): LlmMessage {
  const { content } = message;
  if (content === undefined || content === null || typeof content === "string") return message;
  return Array.isArray(content) ? message : { ...message, content: JSON.stringify(content) };
}

function resultOf(config: Config, envelope: LlmEnvelope): HandlerResult {
  const usage =
    envelope.usage === null
      ? {}
      : {
          usage: {
            inputTokens: envelope.usage.input_tokens,
            outputTokens: envelope.usage.output_tokens,
          },
        };
  if (config.response_format === "text") return { output: envelope, ...usage };
  try {
    return { output: { ...envelope, json: JSON.parse(envelope.text) as unknown }, ...usage };
  } catch {
    const { finish_reason: reason } = envelope;
    return failure("provider_error", `the model's answer is not JSON; it ended with ${reason}`);
  }
}

function failureOf(error: unknown, signal: AbortSignal, limitMs: number): HandlerFailure {
  if (error instanceof ProviderFault && error.options.timeoutMs !== undefined)
    return timeoutFailure(error.options.timeoutMs, error.message);
  if (error instanceof ProviderFault && !isOf(signal, error)) {
    const { permanent = false, retryAfterMs, details } = error.options;
    const { faultCause: cause, message } = error;
    const failed = { cause, message, permanent, ...(details === undefined ? {} : { details }) };
    return failureUntil(retryAfterMs, { failed });
  }
  // The provider stopped because of the signal. If the attempt itself was aborted, no caller reads this result.
  if (signal.aborted)
    return timeoutFailure(limitMs, `the model did not answer within ${limitMs} ms`);
  throw error;
}

/** Whether a provider stopped because of the call's own limit. */
const isOf = (signal: AbortSignal, { faultCause }: ProviderFault): boolean =>
  signal.aborted && faultCause === "timeout";
