// One outbound HTTP exchange for a node: a guarded connection, redirects followed here and checked each time, a bounded read. It returns
// every kind of failure as a value, and the caller maps causes to outcomes. `egressOpen` does not read the body.

import type { Readable } from "node:stream";
import { request, type Agent, type Dispatcher } from "undici";
import { LIMITS } from "@pawl/core/data/limits";
import type { Cause } from "@pawl/core/fault/cause";
import { EngineError } from "@pawl/core/fault/engine-error";
import { inCallSpan } from "@pawl/platform/telemetry/outgoing-call";
import { traceHeaders } from "@pawl/platform/telemetry/trace";
import { discard, readBody } from "./body.ts";
import { CONNECT_TIMEOUT_MS, IDLE_TIMEOUT_MS } from "./connect.ts";
import { checkUrl, type EgressPolicy } from "./guard.ts";
import { carriedHeaders } from "./headers.ts";

export interface EgressRequest {
  readonly method: string;
  readonly url: string;
  /** Checked by `checkHeaders`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** How long the server may be silent before its headers, and between two chunks of its body. The agent's own limit by default. */
  readonly idleMs?: number;
}

interface Answered<Body> {
  readonly ok: true;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly url: string;
}
/** A response with an unread body: the caller must read it to the end or destroy it. */
export type EgressOpened = Answered<Readable>;
export type EgressResponse = Answered<Buffer>;

export interface EgressFailure {
  readonly ok: false;
  readonly cause: Extract<
    Cause,
    "url_blocked" | "response_too_large" | "timeout" | "provider_error" | "cancelled"
  >;
  readonly message: string;
  /** With the cause timeout: the limit that passed, if it is not the limit of the request's signal. */
  readonly timeoutMs?: number;
}

export interface Egress {
  readonly agent: Agent;
  readonly policy: EgressPolicy;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Performs the exchange. Never rejects. */
export async function egressFetch(
  egress: Egress,
  asked: EgressRequest,
): Promise<EgressResponse | EgressFailure> {
  const opened = await egressOpen(egress, asked);
  if (!opened.ok) return opened;
  const { body: stream, ...head } = opened;
  try {
    const encoding = opened.headers["content-encoding"] ?? "";
    const bytesMax = LIMITS.httpResponseBytes;
    return { ...head, body: await readBody(stream, { encoding, bytesMax }) };
  } catch (error) {
    return explainFailure(error, asked);
  }
}

/** Sends the request and follows redirects until the first response that is not a redirect. Never rejects. */
export const egressOpen = (
  egress: Egress,
  asked: EgressRequest,
): Promise<EgressOpened | EgressFailure> => inCallSpan(asked, () => follow(egress, asked));

async function follow(egress: Egress, asked: EgressRequest): Promise<EgressOpened | EgressFailure> {
  let current = asked;
  for (let hop = 0; ; hop++) {
    const verdict = checkUrl(current.url, egress.policy);
    if (!verdict.ok) return failure("url_blocked", verdict.message);
    let response: Dispatcher.ResponseData;
    try {
      response = await request(verdict.url, {
        dispatcher: egress.agent,
        method: current.method,
        // A traceparent that the user wrote counts.
        headers: { ...traceHeaders(), ...current.headers },
        body: current.body ?? null,
        signal: current.signal,
        ...(current.idleMs === undefined
          ? {}
          : { headersTimeout: current.idleMs, bodyTimeout: current.idleMs }),
      });
    } catch (error) {
      return explainFailure(error, current);
    }
    const location = REDIRECTS.has(response.statusCode) ? response.headers["location"] : undefined;
    if (typeof location !== "string") return openedBy(response, verdict.url);
    discard(response.body);
    if (hop >= LIMITS.httpRedirects)
      return failure("url_blocked", `more than ${LIMITS.httpRedirects} redirects`);
    const next = followed(current, verdict.url, { status: response.statusCode, location });
    if (!("url" in next)) return next;
    current = next;
  }
}

/** The next request of a redirect. Credentials are not sent to another host. */
function followed(
  from: EgressRequest,
  at: URL,
  redirect: { readonly status: number; readonly location: string },
): EgressRequest | EgressFailure {
  const to = URL.parse(redirect.location, at);
  if (to === null) return failure("url_blocked", "the redirect names no valid address");
  if (at.protocol === "https:" && to.protocol !== "https:") {
    return failure("url_blocked", "a redirect from https to http is refused");
  }
  const headers = to.origin === at.origin ? from.headers : carriedHeaders(from.headers);
  const { status } = redirect;
  const becomesGet =
    (status === 303 && from.method !== "HEAD") ||
    ((status === 301 || status === 302) && from.method === "POST");
  if (!becomesGet) return { ...from, url: to.href, headers };
  const { body: _body, ...rest } = from;
  const { "content-type": _type, ...kept } = headers;
  return { ...rest, method: "GET", url: to.href, headers: kept };
}

function openedBy(response: Dispatcher.ResponseData, url: URL): EgressOpened {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return { ok: true, status: response.statusCode, headers, body: response.body, url: url.href };
}

/** The failure for an error of the exchange, or of reading its body. */
export function explainFailure(
  error: unknown,
  { signal, idleMs = IDLE_TIMEOUT_MS }: Pick<EgressRequest, "signal" | "idleMs">,
): EgressFailure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (error instanceof EngineError && error.reason === "FORBIDDEN") {
    return failure("url_blocked", error.message);
  }
  if (error instanceof EngineError && error.reason === "LIMIT_EXCEEDED") {
    return failure(
      "response_too_large",
      `the response is larger than ${LIMITS.httpResponseBytes} bytes`,
    );
  }
  if (code === "UND_ERR_HEADERS_OVERFLOW" || code === "HPE_HEADER_OVERFLOW") {
    return failure("response_too_large", "the response's headers are too large");
  }
  if (signal.aborted) {
    const isTimeout = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
    return isTimeout
      ? failure("timeout", "the server did not answer in time")
      : failure("cancelled", "the attempt was cancelled");
  }
  if (code === "UND_ERR_CONNECT_TIMEOUT")
    return late(CONNECT_TIMEOUT_MS, `no connection within ${CONNECT_TIMEOUT_MS} ms`);
  if (code.endsWith("_TIMEOUT")) return late(idleMs, `the server was silent for ${idleMs} ms`);
  return failure("provider_error", `the request failed${code === "" ? "" : `: ${code}`}`);
}

const failure = (cause: EgressFailure["cause"], message: string): EgressFailure => ({
  ok: false,
  cause,
  message,
});

const late = (timeoutMs: number, message: string): EgressFailure => ({
  ...failure("timeout", message),
  timeoutMs,
});
