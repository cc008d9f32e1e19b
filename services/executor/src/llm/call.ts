// One call of a provider over HTTP. It passes the egress guard, like every outbound call. A streamed answer is read as it arrives, and its
// faults become causes of Pawl. The key never appears in a fault.

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
import { ProviderFault, type LlmChunk } from "./provider.ts";
import { sseEvents, SseOverflow } from "./sse-events.ts";

export interface ProviderSettings {
  /** The address before the path of the API. */
  readonly baseUrl: string;
  readonly apiKey: Pick<Secret, "reveal"> | undefined;
  /** How long the server may be silent. */
  readonly idleMs: number;
}

/** A call, and how to read its answer. */
interface ProviderCall {
  readonly settings: ProviderSettings;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly isStreamed: boolean;
  readonly signal: AbortSignal;
  /** Reads a streamed answer from the data of its events. */
  readonly streamed: (events: AsyncIterable<string>) => AsyncIterable<LlmChunk>;
  /** Reads an answer in one piece: the request asked for that, or the server does not stream. */
  readonly whole: (text: string) => Iterable<LlmChunk>;
}

const DETAIL_LENGTH_MAX = 4_096;
const ERROR_BYTES_MAX = 64 * 1024;
const RETRYABLE_4XX: ReadonlySet<number> = new Set([408, 409, 425]);
const STREAM_LIMITS = { bytesMax: LIMITS.llmStreamBytes, eventBytesMax: LIMITS.llmEventBytes };

/** Makes the call and gives the pieces of the answer. @throws ProviderFault */
export async function* callProvider(egress: Egress, call: ProviderCall): AsyncGenerator<LlmChunk> {
  const { settings, signal } = call;
  const body = JSON.stringify(call.body);
  if (Buffer.byteLength(body) > LIMITS.httpRequestBytes)
    throw new ProviderFault("request_too_large", "the prompt is too large", { permanent: true });
  const opened = await egressOpen(egress, {
    method: "POST",
    url: `${settings.baseUrl.replace(/\/+$/, "")}${call.path}`,
    headers: {
      "content-type": "application/json",
      accept: call.isStreamed ? "text/event-stream" : "application/json",
      // Compression would delay pieces.
      "accept-encoding": "identity",
      "user-agent": "pawl",
      ...call.headers,
    },
    body,
    signal,
    idleMs: settings.idleMs,
  });
  if (!opened.ok) throw egressFault(opened);
  try {
    if (opened.status >= 400) throw await statusFault(opened, settings);
    if (isEventStream(opened))
      // The body of a response yields buffers.
      yield* call.streamed(sseEvents(opened.body as AsyncIterable<Buffer>, STREAM_LIMITS));
    else yield* call.whole(await wholeText(opened));
  } catch (error) {
    throw readingFault(error, { signal, idleMs: settings.idleMs });
  } finally {
    discard(opened.body);
  }
}

/** The value of JSON text. @throws ProviderFault */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProviderFault("provider_error", "the provider sent text that is not JSON");
  }
}

/** An error object in the middle of a stream. Its text becomes the details. */
export function streamFault(error: unknown, settings: ProviderSettings): ProviderFault {
  const text = discreet(JSON.stringify(error).slice(0, DETAIL_LENGTH_MAX), settings);
  const isLimit = /rate.?limit|too many requests|"(code|status)":"?429/i.test(text);
  const cause = isLimit ? "rate_limit" : "provider_error";
  const message = "the provider broke off with an error";
  return new ProviderFault(cause, message, { details: { error: text } });
}

const isEventStream = ({ headers }: EgressOpened): boolean =>
  /^text\/event-stream\b/i.test(headers["content-type"] ?? "");

async function wholeText({ headers, body }: EgressOpened): Promise<string> {
  const encoding = headers["content-encoding"] ?? "";
  const read = await readBody(body, { encoding, bytesMax: LIMITS.httpResponseBytes });
  return read.toString("utf8");
}

async function statusFault(
  { status, headers, body }: EgressOpened,
  settings: ProviderSettings,
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

/** Removes the key, because servers often repeat the key they received. */
function discreet(text: string, { apiKey }: ProviderSettings): string {
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
