// Rules of webhooks: the events that may be sent, and when a call that failed is made again.

/** The events that end a run: a receiver that names no events gets these. */
export const TERMINAL_EVENTS = [
  "run.completed",
  "run.failed",
  "run.cancelled",
  "run.timed_out",
] as const;

/** The events that a receiver may ask for. Other events are details of the engine, or come too often. */
export const WEBHOOK_EVENTS = [
  "run.started",
  "run.status.changed",
  ...TERMINAL_EVENTS,
  "node.blocked",
  "node.completed",
  "node.failed",
  "node.timed_out",
] as const;

/** A receiver of events of single runs: a request or a workflow names it. */
export interface Receiver {
  readonly events: readonly string[];
  /** The endpoint whose secrets and headers the calls have. Null if there is none. */
  readonly endpointId: string | null;
  /** Null means the URL of the endpoint. */
  readonly url: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** The key in base64 that signs the calls if there is no endpoint. */
  readonly secret: string | null;
}

export type DeliveryState = "pending" | "delivered" | "dead";

/** How one call ended. */
interface CallResult {
  /** 0 if there was no answer. */
  readonly statusCode: number;
  /** Why there was no answer; empty otherwise. */
  readonly error: string;
  /** The egress guard refused the URL. */
  readonly isBlocked: boolean;
  /** The wait that the receiver asked for. 0 if it asked for none. */
  readonly retryAfterMs: number;
}

export interface RetryTimes {
  /** The wait after the first failure, and the longest wait. */
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The waits grow by this factor: eleven of them take 5 seconds to 24 hours. */
const GROWTH = 2.65;
/** The part of a wait that chance decides, so that deliveries which failed together do not return together. */
const JITTER = 0.2;
/** Failures after which a delivery is dead. */
export const ATTEMPTS_MAX = 12;
/** The answer of a receiver that wants no more calls. */
const GONE = 410;

/** What follows from a call. `delayMs` is set if the call is made again. */
export interface Verdict {
  readonly state: DeliveryState;
  readonly error: string;
  readonly delayMs: number;
  /** The endpoint gets nothing more until a user switches it on. */
  readonly isGone: boolean;
}

/** `attempts` counts this call. `chance` is a random number from 0 to 1. */
export function judgeCall(
  call: CallResult,
  attempts: number,
  { firstMs, maxMs }: RetryTimes,
  chance: number,
): Verdict {
  const { statusCode, isBlocked, retryAfterMs } = call;
  if (statusCode >= 200 && statusCode < 300)
    return { state: "delivered", error: "", delayMs: 0, isGone: false };
  const isGone = statusCode === GONE;
  const error = call.error === "" ? `the receiver answered ${statusCode}` : call.error;
  if (isGone || isBlocked || attempts >= ATTEMPTS_MAX)
    return { state: "dead", error, delayMs: 0, isGone };
  const grown = Math.min(maxMs, firstMs * GROWTH ** (attempts - 1));
  const jittered = grown * (1 - JITTER / 2 + JITTER * chance);
  const delayMs = Math.min(maxMs, Math.max(firstMs, jittered, retryAfterMs));
  return { state: "pending", error, delayMs, isGone };
}

const SECRET_PREFIX = "whsec_";
const SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;
const KEY_BYTES_MIN = 24;
const KEY_BYTES_MAX = 64;

/** The base64 text of a secret, or undefined if the text is no secret. */
export function secretKeyText(secret: string): string | undefined {
  if (!SECRET.test(secret)) return undefined;
  const text = secret.slice(SECRET_PREFIX.length);
  const bytes = Math.floor((text.replace(/=+$/, "").length * 3) / 4);
  return bytes >= KEY_BYTES_MIN && bytes <= KEY_BYTES_MAX ? text : undefined;
}

/** A key in base64 as a secret. */
export const secretOf = (keyText: string): string => SECRET_PREFIX + keyText;
