// Turns the outcome of a handler into bounded texts. Hostile getters, circular data and NUL characters become a failure here.

import { encodeJson } from "../data/encode-json.ts";
import { checkJson } from "../data/json.ts";
import { LIMITS } from "../data/limits.ts";
import { utf8Bytes } from "../data/utf8.ts";
import type { Cause } from "../fault/cause.ts";
import { describe, type FailedOptions, type HandlerFailure } from "./failure.ts";
import type { Usage } from "../log/event.ts";
import type { HandlerSuccess } from "./result.ts";
import type { Settled, SettledFailure } from "./served.ts";

const MESSAGE_LENGTH_MAX = 2_000;
const CAUSE = /^[A-Za-z][A-Za-z0-9_.]{0,63}$/;
const HANDLE_LENGTH_MAX = 128;
const MODEL_LENGTH_MAX = 200;

/** The texts of an outcome. */
export function settled(
  outcome: HandlerSuccess | HandlerFailure,
  outputBytes: number = LIMITS.valueBytes,
): Settled {
  try {
    return "failed" in outcome ? failedBy(outcome.failed) : completedBy(outcome, outputBytes);
  } catch (error) {
    return { failure: settledFailure("provider_error", describe(error)) };
  }
}

function completedBy(outcome: HandlerSuccess, outputBytes: number): Settled {
  const { output, handle = "", queueDelayMs = 0, usage, actions = [], taint = [] } = outcome;
  if (!Array.isArray(taint) || !taint.every((label) => typeof label === "string"))
    return malformed("labels that are not texts");
  if (typeof handle !== "string" || handle.length > HANDLE_LENGTH_MAX)
    return malformed("a handle that is not a name");
  if (!Number.isSafeInteger(queueDelayMs) || queueDelayMs < 0 || queueDelayMs > LIMITS.delayMsMax)
    return malformed("a delay that is not a number of milliseconds");
  const encoded = encodeJson(output, "output", outputBytes);
  if (!encoded.ok)
    return { failure: settledFailure(encoded.cause, encoded.message, { permanent: true }) };
  const bytes = utf8Bytes(encoded.text);
  if (bytes > outputBytes) return tooLarge(bytes, outputBytes);
  const counted = usage && { usage: countedUsage(usage) };
  const acted = {
    ...(actions.length === 0 ? {} : { actions }),
    ...(taint.length === 0 ? {} : { taint }),
  };
  return { result: { outputJson: encoded.text, handle, queueDelayMs, ...counted, ...acted } };
}

function tooLarge(bytes: number, limit: number): Settled {
  const message = `the output has ${bytes} bytes; at most ${limit}. Return less, or a reference to stored data`;
  return { failure: settledFailure("output_too_large", message, { permanent: true }) };
}

function failedBy(failed: HandlerFailure["failed"]): Settled {
  const { cause, message, ...options } = failed;
  if (typeof cause !== "string" || !CAUSE.test(cause))
    return malformed("a failure without a cause");
  const text = typeof message === "string" ? message : cause;
  return { failure: settledFailure(cause, text, options) };
}

const malformed = (what: string): Settled => ({
  failure: settledFailure("contract_violated" satisfies Cause, `the handler returned ${what}`),
});

/** A failure as texts: the message is cut and made safe to store. */
export function settledFailure(
  cause: string,
  message: string,
  { permanent, retryAfterMs, timeoutMs, details }: FailedOptions = {},
): SettledFailure {
  return {
    cause,
    message: cleanText(message, MESSAGE_LENGTH_MAX),
    permanent: permanent === true,
    retryAfterMs: count(retryAfterMs),
    timeoutMs: count(timeoutMs),
    detailsJson: encodeDetails(details),
  };
}

/** Usage with whole numbers. A number that is not a count is 0. */
export function countedUsage({ inputTokens, outputTokens, costMicros, model }: Usage): Usage {
  return {
    inputTokens: count(inputTokens),
    outputTokens: count(outputTokens),
    ...(costMicros === undefined ? {} : { costMicros: count(costMicros) }),
    ...(typeof model === "string" && model !== ""
      ? { model: cleanText(model, MODEL_LENGTH_MAX) }
      : {}),
  };
}

/** The number, or zero if it is not a count. */
const count = (value: unknown): number =>
  typeof value === "number" && value > 0 && value <= Number.MAX_SAFE_INTEGER ? Math.ceil(value) : 0;

/** Details are optional, so details that cannot be stored are left out. */
function encodeDetails(details: unknown): string {
  if (details === undefined) return "";
  try {
    const text = JSON.stringify(details, (_key, value: unknown) =>
      typeof value === "string" ? cleanText(value, value.length) : value,
    );
    return checkJson(text).ok ? text : "";
  } catch {
    return "";
  }
}

/** Text that Postgres and protobuf accept: no NUL, no lone surrogates, not longer than `lengthMax`. */
export function cleanText(text: string, lengthMax: number): string {
  const whole = (text.length > lengthMax ? text.slice(0, lengthMax) : text).toWellFormed();
  return whole.includes("\0") ? whole.replaceAll("\0", "\ufffd") : whole;
}
