// The interface of a model provider: it streams text and media and ends with the whole answer in an envelope. For an expected problem, it
// throws a ProviderFault with the cause.

import type { Media } from "@pawl/core/log/event";

/**
 * A message of the conversation, in the common chat form. Other keys are forwarded unchanged. `is_error` marks the result of a tool that
 * failed, for providers that have such a mark.
 */
export interface LlmMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly [key: string]: unknown;
}

/** A question to a model. */
export interface LlmInput {
  readonly messages: readonly LlmMessage[];
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** Tool declarations, passed on unchanged. */
  readonly tools?: readonly unknown[];
  readonly responseFormat: "text" | "json";
  /** False asks for the whole answer at once. */
  readonly isStreamed: boolean;
}

/** A call that the model asks for. `arguments` is the JSON text it wrote. */
export interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** The whole answer, with the names that templates read. */
export interface LlmEnvelope {
  readonly text: string;
  readonly tool_calls: readonly ToolCall[];
  /** Null if the provider did not count. */
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number } | null;
  readonly finish_reason: string;
  readonly media: readonly Media[];
}

/** One piece of an answer. `final` is the last. */
export type LlmChunk =
  | { readonly kind: "partial"; readonly text: string }
  | { readonly kind: "media"; readonly media: Media }
  /** The tokens that the provider has counted so far. */
  | { readonly kind: "counted"; readonly usage: NonNullable<LlmEnvelope["usage"]> }
  | { readonly kind: "final"; readonly envelope: LlmEnvelope };

export interface LlmProvider {
  stream(modelId: string, input: LlmInput, signal: AbortSignal): AsyncIterable<LlmChunk>;
}

interface FaultOptions {
  /** Do not retry, even if the policy allows it. */
  readonly permanent?: boolean;
  readonly retryAfterMs?: number | undefined;
  /** With the cause timeout: the limit that passed, if it is not the limit of the call's signal. */
  readonly timeoutMs?: number | undefined;
  readonly details?: unknown;
}

/** A failed call of a kind that the provider expects. */
export class ProviderFault extends Error {
  override readonly name = "ProviderFault";
  /** A cause of Pawl (rate_limit, provider_error, timeout, …) or the provider's own cause. */
  readonly faultCause: string;
  readonly options: FaultOptions;

  constructor(faultCause: string, message: string, options: FaultOptions = {}) {
    super(message);
    this.faultCause = faultCause;
    this.options = options;
  }
}
