// Turns whatever a handler returned or threw into a bounded result: completed with a JSON output, expanded into items, or failed with a
// cause. Hostile getters, `throw undefined`, circular data and NUL characters all become a failure here and go no further.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { encodeJson } from "@pawl/core/data/encode-json";
import { checkJson } from "@pawl/core/data/json";
import { LIMITS } from "@pawl/core/data/limits";
import type { Cause } from "@pawl/core/fault/cause";
import { APPROVAL, type Usage } from "@pawl/core/log/event";
import type { OutcomeSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type {
  HandlerChildRun,
  HandlerExpansion,
  HandlerFailure,
  HandlerQuestion,
  HandlerSuccess,
} from "../handlers/handler.ts";

/** The `result` of an Outcome. */
export type WireResult = NonNullable<MessageInitShape<typeof OutcomeSchema>["result"]>;

const MESSAGE_LENGTH_MAX = 2_000;
const CAUSE = /^[A-Za-z][A-Za-z0-9_.]{0,63}$/;
const HANDLE_LENGTH_MAX = 128;

/** The outcome of a handler that returned. */
export function returned(value: unknown): WireResult {
  try {
    if (typeof value !== "object" || value === null) return malformed("nothing");
    if ("failed" in value) return failedBy(value.failed);
    if ("expand" in value) return expandedBy(value.expand);
    if ("child" in value) return childBy(value.child);
    if ("ask" in value) return askedBy(value.ask);
    return "output" in value ? completedBy(value) : malformed("no output");
  } catch (error) {
    return thrown(error);
  }
}

/** The outcome of a handler that threw. */
export const thrown = (error: unknown): WireResult => failed("provider_error", describe(error));

/** A failure with a cause of Pawl's own. The message is cut and made safe to store. */
export const failed = (cause: Cause, message: string, options: FailedOptions = {}): WireResult =>
  failedWith(cause, message, options);

interface FailedOptions {
  readonly permanent?: boolean;
  readonly details?: unknown;
  readonly retryAfterMs?: unknown;
  readonly timeoutMs?: unknown;
}

/** A failure with the cause that a handler gave. */
export function failedWith(cause: string, message: string, options: FailedOptions): WireResult {
  const detailsJson = encodeDetails(options.details);
  return {
    case: "failed",
    value: {
      cause,
      message: cleanText(message, MESSAGE_LENGTH_MAX),
      permanent: options.permanent ?? false,
      ...(detailsJson === undefined ? {} : { detailsJson }),
      retryAfterMs: wholeNumber(options.retryAfterMs),
      timeoutMs: wholeNumber(options.timeoutMs),
    },
  };
}

/** The cause of a failed result, or the kind of any other: the label for metrics and spans. */
export const causeOf = (result: WireResult): string =>
  result.case === "failed" ? (result.value.cause ?? "") : (result.case ?? "");

function completedBy(value: Partial<HandlerSuccess>): WireResult {
  const { output, handle, queueDelayMs, usage } = value;
  if (handle !== undefined && (typeof handle !== "string" || handle.length > HANDLE_LENGTH_MAX)) {
    return malformed("a handle that is not a name");
  }
  const delay = queueDelayMs ?? 0;
  if (!Number.isSafeInteger(delay) || delay < 0 || delay > LIMITS.delayMsMax) {
    return malformed("a delay that is not a number of milliseconds");
  }
  const text = encode(output, "output");
  if (typeof text !== "string") return text;
  return {
    case: "completed",
    value: {
      outputJson: Buffer.from(text),
      handle: handle ?? "",
      queueDelayMs: BigInt(delay),
      ...(usage === undefined ? {} : { usage: wireUsage(usage) }),
    },
  };
}

const wireUsage = ({ inputTokens, outputTokens }: Usage) => ({
  inputTokens: wholeNumber(inputTokens),
  outputTokens: wholeNumber(outputTokens),
});

/** Zero for anything that is not a count. */
const wholeNumber = (value: unknown): bigint =>
  typeof value === "number" && value > 0 && value <= Number.MAX_SAFE_INTEGER
    ? BigInt(Math.ceil(value))
    : 0n;

function expandedBy(value: unknown): WireResult {
  if (typeof value !== "object" || value === null) return malformed("no items");
  const { items, cut }: Partial<HandlerExpansion["expand"]> = value;
  if (!Array.isArray(items)) return malformed("no items");
  const text = encode(items, "list of items");
  if (typeof text !== "string") return text;
  return { case: "expanded", value: { itemsJson: Buffer.from(text), cut: cut === true } };
}

function childBy(value: unknown): WireResult {
  if (typeof value !== "object" || value === null) return malformed("no child run");
  const { workflowId, version = 0, input }: Partial<HandlerChildRun["child"]> = value;
  if (typeof workflowId !== "string" || !Number.isSafeInteger(version) || version < 0)
    return malformed("no child run");
  const text = encode(input, "input of the child run");
  if (typeof text !== "string") return text;
  return { case: "childRun", value: { workflowId, version, inputJson: Buffer.from(text) } };
}

function askedBy(value: unknown): WireResult {
  if (typeof value !== "object" || value === null) return malformed("no question");
  const { message, details, assignees, deadlineMs }: Partial<HandlerQuestion["ask"]> = value;
  if (typeof message !== "string" || message === "") return malformed("no question");
  const text = encode(details ?? null, "details");
  if (typeof text !== "string") return text;
  const approval = {
    message: cleanText(message, LIMITS.approvalMessageLength),
    detailsJson: Buffer.from(text),
    assignees: (Array.isArray(assignees) ? assignees : [])
      .slice(0, LIMITS.approvalAssignees)
      .map((one) => cleanText(String(one), LIMITS.labelLength)),
    deadlineMs: wholeNumber(deadlineMs),
  };
  return { case: "held", value: { reason: APPROVAL, phase: "output", approval } };
}

/** A value as JSON text that the log accepts, or the failure of a value that it refuses. */
function encode(value: unknown, what: string): string | WireResult {
  const encoded = encodeJson(value, what);
  return encoded.ok ? encoded.text : failed(encoded.cause, encoded.message, { permanent: true });
}

function failedBy(value: unknown): WireResult {
  if (typeof value !== "object" || value === null) return malformed("a failure without a cause");
  const failure: Partial<HandlerFailure["failed"]> = value;
  const { cause, message, permanent, details, retryAfterMs, timeoutMs } = failure;
  if (typeof cause !== "string" || !CAUSE.test(cause)) {
    return malformed("a failure without a cause");
  }
  const text = typeof message === "string" ? message : cause;
  const isPermanent = permanent === true;
  return failedWith(cause, text, { permanent: isPermanent, details, retryAfterMs, timeoutMs });
}

const malformed = (what: string): WireResult =>
  failed("contract_violated", `the handler returned ${what}`);

/** Details are optional, so details that cannot be stored are left out. */
function encodeDetails(details: unknown): Buffer | undefined {
  if (details === undefined) return undefined;
  try {
    const text = JSON.stringify(details, (_key, value: unknown) =>
      typeof value === "string" ? cleanText(value, value.length) : value,
    );
    return checkJson(text).ok ? Buffer.from(text) : undefined;
  } catch {
    return undefined;
  }
}

function describe(error: unknown): string {
  try {
    if (error instanceof Error) return `${error.name}: ${error.message}`;
    return typeof error === "object" && error !== null
      ? "the handler threw an object"
      : `the handler threw ${String(error)}`;
  } catch {
    return "the handler threw something that cannot be described";
  }
}

/** Text that Postgres and protobuf accept: no NUL, no lone surrogates, not longer than `lengthMax`. */
export function cleanText(text: string, lengthMax: number): string {
  const whole = (text.length > lengthMax ? text.slice(0, lengthMax) : text).toWellFormed();
  return whole.includes("\0") ? whole.replaceAll("\0", "\ufffd") : whole;
}
