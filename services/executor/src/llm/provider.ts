// What a model provider is: it streams partial text and media and ends with the whole in an envelope. What it
// expects to go wrong it throws as a ProviderFault, which names the cause the retry policy knows.

import type { Media } from "@pawl/core/log/event";

/** A message of the conversation, in the widespread chat form; keys beyond these go along as they are. */
export interface LlmMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly [key: string]: unknown;
}

/** What a model is asked. */
export interface LlmInput {
  readonly messages: readonly LlmMessage[];
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** Tool declarations, passed through. */
  readonly tools?: readonly unknown[];
  readonly responseFormat: "text" | "json";
  /** False asks for the whole at once. */
  readonly isStreamed: boolean;
}

/** A call the model wants made; `arguments` is the JSON text it wrote. */
export interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** The whole answer, in the words that templates read. */
export interface LlmEnvelope {
  readonly text: string;
  readonly tool_calls: readonly ToolCall[];
  /** Null where the provider did not count. */
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number } | null;
  readonly finish_reason: string;
  readonly media: readonly Media[];
}

/** One piece of an answer; `final` is the last. */
export type LlmChunk =
  | { readonly kind: "partial"; readonly text: string }
  | { readonly kind: "media"; readonly media: Media }
  | { readonly kind: "final"; readonly envelope: LlmEnvelope };

export interface LlmProvider {
  stream(modelId: string, input: LlmInput, signal: AbortSignal): AsyncIterable<LlmChunk>;
}

export interface FaultOptions {
  /** Never retry, whatever the policy. */
  readonly permanent?: boolean;
  readonly retryAfterMs?: number | undefined;
  /** With the cause timeout: the limit that passed, where it is not that of the call's signal. */
  readonly timeoutMs?: number | undefined;
  readonly details?: unknown;
}

/** A call that failed in a way that was to be expected. */
export class ProviderFault extends Error {
  override readonly name = "ProviderFault";
  /** As in a Failed outcome: rate_limit, provider_error, timeout, or a cause of its own. */
  readonly faultCause: string;
  readonly options: FaultOptions;

  constructor(faultCause: string, message: string, options: FaultOptions = {}) {
    super(message);
    this.faultCause = faultCause;
    this.options = options;
  }
}
