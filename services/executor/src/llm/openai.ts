// A provider for the OpenAI-compatible chat API. Its calls pass the egress guard, like every outbound call. It reads a streamed answer as
// it arrives. A stream that ends before the model reported its end is a provider_error, never half an answer.

import { LIMITS } from "@pawl/core/data/limits";
import type { Secret } from "@pawl/platform/config/secret";
import { discard, readBody } from "../egress/body.ts";
import {
  egressOpen,
  explainFailure,
  type Egress,
  type EgressFailure,
  type EgressOpened,
} from "../egress/fetch.ts";
import { retryAfterMs } from "../egress/retry-after.ts";
import { Assembly, chatChunkSchema, type ChatChunk } from "./assembly.ts";
import { ProviderFault, type LlmChunk, type LlmInput, type LlmProvider } from "./provider.ts";
import { sseEvents, SseOverflow } from "./sse-events.ts";

interface OpenAiSettings {
  /** The address before /chat/completions. */
  readonly baseUrl: string;
  readonly apiKey: Pick<Secret, "reveal"> | undefined;
  /** How long the server may be silent. */
  readonly idleMs: number;
}

const DETAIL_LENGTH_MAX = 4_096;
const ERROR_BYTES_MAX = 64 * 1024;
const RETRYABLE_4XX: ReadonlySet<number> = new Set([408, 409, 425]);
const STREAM_LIMITS = { bytesMax: LIMITS.llmStreamBytes, eventBytesMax: LIMITS.llmEventBytes };

/** Makes the provider. */
export const openAiProvider = (egress: Egress, settings: OpenAiSettings): LlmProvider => ({
  async *stream(modelId, input, signal) {
    const body = JSON.stringify(requestOf(modelId, input));
    if (Buffer.byteLength(body) > LIMITS.httpRequestBytes) {
      throw new ProviderFault("request_too_large", "the prompt is too large", { permanent: true });
    }
    const opened = await egressOpen(egress, {
      method: "POST",
      url: `${settings.baseUrl.replace(/\/+$/, "")}/chat/completions`,
      headers: headersOf(settings, input),
      body,
      signal,
      idleMs: settings.idleMs,
    });
    if (!opened.ok) throw egressFault(opened);
    try {
      if (opened.status >= 400) throw await statusFault(opened, settings);
      yield* isEventStream(opened) ? streamed(opened, settings) : whole(opened);
    } catch (error) {
      throw readingFault(error, { signal, idleMs: settings.idleMs });
    } finally {
      discard(opened.body);
    }
  },
});

const requestOf = (model: string, input: LlmInput) => ({
  model,
  messages: input.messages,
  ...(input.temperature === undefined ? {} : { temperature: input.temperature }),
  ...(input.maxTokens === undefined ? {} : { max_tokens: input.maxTokens }),
  ...(input.tools === undefined ? {} : { tools: input.tools }),
  ...(input.responseFormat === "json" ? { response_format: { type: "json_object" } } : {}),
  ...(input.isStreamed ? { stream: true, stream_options: { include_usage: true } } : {}),
});

const headersOf = ({ apiKey }: OpenAiSettings, input: LlmInput): Record<string, string> => ({
  "content-type": "application/json",
  accept: input.isStreamed ? "text/event-stream" : "application/json",
  // Compression would delay pieces.
  "accept-encoding": "identity",
  "user-agent": "pawl",
  ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey.reveal()}` }),
});

const isEventStream = ({ headers }: EgressOpened): boolean =>
  /^text\/event-stream\b/i.test(headers["content-type"] ?? "");

async function* streamed(opened: EgressOpened, settings: OpenAiSettings): AsyncGenerator<LlmChunk> {
  const assembly = new Assembly();
  let isDone = false;
  // The body of a response yields buffers.
  for await (const data of sseEvents(opened.body as AsyncIterable<Buffer>, STREAM_LIMITS)) {
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

/** An answer in one piece: the request asked for that, or the server does not stream. */
async function* whole(opened: EgressOpened): AsyncGenerator<LlmChunk> {
  const encoding = opened.headers["content-encoding"] ?? "";
  const body = await readBody(opened.body, { encoding, bytesMax: LIMITS.httpResponseBytes });
  const assembly = new Assembly();
  const chunks = assembly.take(parsed(body.toString("utf8")));
  if (!assembly.isFinished)
    throw new ProviderFault("provider_error", "the answer holds no finished choice");
  yield* chunks;
  yield { kind: "final", envelope: assembly.envelope() };
}

function parsed(text: string): ChatChunk {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ProviderFault("provider_error", "the provider sent text that is not JSON");
  }
  const chunk = chatChunkSchema.safeParse(value);
  if (chunk.success) return chunk.data;
  throw new ProviderFault("provider_error", "the provider sent JSON that is not a chat completion");
}

async function statusFault(
  { status, headers, body }: EgressOpened,
  settings: OpenAiSettings,
): Promise<ProviderFault> {
  const encoding = headers["content-encoding"] ?? "";
  const read = await readBody(body, { encoding, bytesMax: ERROR_BYTES_MAX }).catch(() => undefined);
  const text = discreet(read?.toString("utf8", 0, DETAIL_LENGTH_MAX) ?? "", settings);
  const message = `the provider answered ${status}`;
  const details = { status, body: text };
  const wait = { details, retryAfterMs: retryAfterMs(headers, Date.now()) };
  if (status === 429) return new ProviderFault("rate_limit", message, wait);
  if (status >= 500 || RETRYABLE_4XX.has(status))
    return new ProviderFault("provider_error", message, wait);
  return new ProviderFault("http_status", message, { permanent: true, details });
}

/** An error object in the middle of a stream. Its text becomes the details. */
function streamFault(error: unknown, settings: OpenAiSettings): ProviderFault {
  const text = discreet(JSON.stringify(error).slice(0, DETAIL_LENGTH_MAX), settings);
  const isLimit = /rate.?limit|too many requests|"(code|status)":"?429/i.test(text);
  const cause = isLimit ? "rate_limit" : "provider_error";
  const message = "the provider broke off with an error";
  return new ProviderFault(cause, message, { details: { error: text } });
}

/** Removes the key, because servers often repeat the key they received. */
function discreet(text: string, { apiKey }: OpenAiSettings): string {
  const key = apiKey?.reveal() ?? "";
  return key === "" ? text : text.replaceAll(key, "***");
}

const egressFault = ({ cause, message, timeoutMs }: EgressFailure): ProviderFault =>
  new ProviderFault(cause, message, {
    permanent: cause === "url_blocked" || cause === "response_too_large",
    timeoutMs,
  });

function readingFault(error: unknown, asked: Parameters<typeof explainFailure>[1]): ProviderFault {
  if (error instanceof ProviderFault) return error;
  if (error instanceof SseOverflow)
    return new ProviderFault("response_too_large", error.message, { permanent: true });
  return egressFault(explainFailure(error, asked));
}
