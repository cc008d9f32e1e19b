// Asks a model for a handler: finds the provider, bounds the time, streams the pieces, and turns faults of the provider into failures of the
// node.

import { Failed } from "@pawl/core/handler/failure";
import type { CallFacts } from "@pawl/core/handler/served";
import { z } from "zod";
import { ProviderFault, type LlmEnvelope, type LlmInput } from "./provider.ts";
import type { Providers } from "./providers.ts";

/** A lone template may have become any value, but a model reads text. */
export const rendered = z
  .unknown()
  .transform((value) => (typeof value === "string" ? value : JSON.stringify(value)));

/** A message after rendering. */
export const renderedMessage = z.looseObject({ role: z.string() });

interface Asked {
  readonly provider?: string | undefined;
  readonly model: string;
  /** The limit of one answer; the provider's own if absent. */
  readonly timeout_ms?: number | undefined;
  readonly input: LlmInput;
  /** Whether the pieces become stream deltas. */
  readonly isShown: boolean;
}

type AskContext = Pick<CallFacts, "emit" | "emitMedia" | "usage"> & {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
};

/** The whole answer of a model. @throws Failed */
export async function askModel(
  providers: Providers,
  asked: Asked,
  ctx: AskContext,
): Promise<LlmEnvelope> {
  const provider = providers.find(asked.provider, asked.model);
  if (provider === undefined) {
    const message = `this executor has no model provider ${JSON.stringify(asked.provider)}; the operator adds it to PAWL_LLM_PROVIDERS`;
    throw new Failed("unknown_provider", message, { permanent: true });
  }
  const timeoutMs = Math.min(asked.timeout_ms ?? provider.timeoutMs, ctx.timeoutMs);
  const signal = AbortSignal.any([ctx.signal, AbortSignal.timeout(timeoutMs)]);
  const { model } = asked;
  let usage: LlmEnvelope["usage"] = null;
  try {
    for await (const chunk of provider.stream(model, asked.input, signal)) {
      if (chunk.kind === "counted") usage = chunk.usage;
      else if (chunk.kind === "final") {
        ({ usage } = chunk.envelope);
        return chunk.envelope;
      } else if (asked.isShown)
        await (chunk.kind === "partial" ? ctx.emit(chunk.text) : ctx.emitMedia(chunk.media));
    }
    throw new ProviderFault("provider_error", "the provider ended without an answer");
  } catch (error) {
    throw failureOf(error, signal, timeoutMs);
  } finally {
    // What the provider counted also counts if the rest of the answer failed.
    if (usage !== null)
      ctx.usage({ inputTokens: usage.input_tokens, outputTokens: usage.output_tokens, model });
  }
}

/** The answer of a model that was asked for JSON. @throws Failed */
export function jsonIn({ text, finish_reason: reason }: LlmEnvelope): unknown {
  try {
    return JSON.parse(text);
  } catch {
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
