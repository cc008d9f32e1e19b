// A provider for the OpenAI-compatible chat API. A stream that ends before the model reported its end is a provider_error, never half an
// answer.

import type { Egress } from "../egress/fetch.ts";
import { Assembly, chatChunkSchema, type ChatChunk } from "./assembly.ts";
import { callProvider, parsedJson, type ProviderSettings, streamFault } from "./call.ts";
import {
  ProviderFault,
  type LlmChunk,
  type LlmInput,
  type LlmMessage,
  type LlmProvider,
} from "./provider.ts";

/** Makes the provider. */
export const openAiProvider = (egress: Egress, settings: ProviderSettings): LlmProvider => ({
  stream: (modelId, input, signal) =>
    callProvider(egress, {
      settings,
      path: "/chat/completions",
      headers: headersOf(settings),
      body: requestOf(modelId, input),
      isStreamed: input.isStreamed,
      signal,
      streamed: (events) => streamed(events, settings),
      whole,
    }),
});

const requestOf = (model: string, input: LlmInput) => ({
  model,
  messages: input.messages.map(messageOf),
  ...(input.temperature === undefined ? {} : { temperature: input.temperature }),
  ...(input.maxTokens === undefined ? {} : { max_tokens: input.maxTokens }),
  ...(input.tools === undefined ? {} : { tools: input.tools }),
  ...(input.responseFormat === "json" ? { response_format: { type: "json_object" } } : {}),
  ...(input.isStreamed ? { stream: true, stream_options: { include_usage: true } } : {}),
});

/** This API has no flag for a failed tool, and a strict server refuses a key that it does not know. The text of the result says it. */
function messageOf(message: LlmMessage): LlmMessage {
  if (message.role !== "tool" || !("is_error" in message)) return message;
  const { is_error: _isError, ...rest } = message;
  return rest;
}

const headersOf = ({ apiKey }: ProviderSettings): Record<string, string> =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey.reveal()}` };

async function* streamed(
  events: AsyncIterable<string>,
  settings: ProviderSettings,
): AsyncGenerator<LlmChunk> {
  const assembly = new Assembly();
  let isDone = false;
  for await (const data of events) {
    isDone = data.trim() === "[DONE]";
    if (isDone) break;
    const chunk = parsed(data);
    if (chunk.error !== undefined && chunk.error !== null) throw streamFault(chunk.error, settings);
    yield* assembly.take(chunk);
  }
  if (!isDone && !assembly.isFinished)
    throw new ProviderFault("provider_error", "the stream ended before the answer did");
  yield { kind: "final", envelope: assembly.envelope() };
}

function* whole(text: string): Generator<LlmChunk> {
  const assembly = new Assembly();
  const chunks = assembly.take(parsed(text));
  if (!assembly.isFinished)
    throw new ProviderFault("provider_error", "the answer holds no finished choice");
  yield* chunks;
  yield { kind: "final", envelope: assembly.envelope() };
}

function parsed(text: string): ChatChunk {
  const chunk = chatChunkSchema.safeParse(parsedJson(text));
  if (chunk.success) return chunk.data;
  throw new ProviderFault("provider_error", "the provider sent JSON that is not a chat completion");
}
