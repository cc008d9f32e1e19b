// The checks of every request before any handler gets it: bounded headers, an allowed host, and an allowed origin.
//
// The host check is against DNS rebinding: a page of another site can make its own name resolve to loopback, but still sends that name.
// The origin check is against pages of other sites, and of other ports of this machine, that call the gateway from a user's browser.

import { cors } from "@connectrpc/connect";
import { EngineError } from "@pawl/core/fault/engine-error";
import { hostOf, LOOPBACK_NAMES, namesTwoHosts } from "@pawl/platform/config/hosts";
import { authorityOf, type EdgeRequest, type EdgeResponse } from "../request/exchange.ts";
import { JSON_FORM_HEADER } from "./json-form.ts";

/** Node does not enforce HTTP/2's header list size (measured), so the gateway counts both here. */
export const HEADER_LIMITS = { bytes: 16 * 1024, pairs: 64 } as const;

export interface GuardOptions {
  /** Host names besides loopback by which clients may call this gateway, without ports. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Origins besides our own, such as http://localhost:5173. */
  readonly allowedOrigins: ReadonlySet<string>;
}

/** Why the gateway refuses a request, with the HTTP status for callers without RPC. Undefined if it does not refuse. */
type Refusal = { readonly error: EngineError; readonly httpStatus: number } | undefined;

/** Checks a request, before routing. */
export function guard(request: EdgeRequest, options: GuardOptions): Refusal {
  return checkHeaders(request) ?? checkHost(request, options) ?? checkOrigin(request, options);
}

function checkHeaders(request: EdgeRequest): Refusal {
  const raw = request.rawHeaders;
  let bytes = 0;
  for (const part of raw) bytes += part.length;
  const isWithin = raw.length / 2 <= HEADER_LIMITS.pairs && bytes <= HEADER_LIMITS.bytes;
  if (isWithin) return undefined;
  const message = `At most ${HEADER_LIMITS.pairs} headers of ${HEADER_LIMITS.bytes} bytes in all.`;
  const error = new EngineError("LIMIT_EXCEEDED", message, { metadata: { limit: "headers" } });
  return { error, httpStatus: 431 };
}

function checkHost(request: EdgeRequest, options: GuardOptions): Refusal {
  if (namesTwoHosts(request.rawHeaders)) {
    const message = "A request names one host: send one Host, the same as :authority.";
    return { error: new EngineError("INPUT_INVALID", message), httpStatus: 400 };
  }
  const host = hostOf(authorityOf(request));
  if (LOOPBACK_NAMES.has(host) || options.allowedHosts.has(host)) return undefined;
  return forbidden("This gateway is not called by that host name.");
}

function checkOrigin(request: EdgeRequest, options: GuardOptions): Refusal {
  const { origin } = request.headers;
  if (origin === undefined) return undefined;
  const isOurs = origin === `http://${authorityOf(request)}` || options.allowedOrigins.has(origin);
  return isOurs ? undefined : forbidden("This gateway is not called from pages of that origin.");
}

const forbidden = (message: string): Refusal => ({
  error: new EngineError("FORBIDDEN", message),
  httpStatus: 403,
});

/** Headers that a page may send. Proxies and libraries of tracing add some of them to each call. */
const ALLOWED_HEADERS = [
  ...cors.allowedHeaders,
  ...["Authorization", "Last-Event-ID", "X-Request-Id"],
  ...["traceparent", "tracestate", "baggage"],
  JSON_FORM_HEADER,
].join(", ");

/** Adds the CORS headers for an origin that the configuration allows. The console needs none. True if it answered a preflight. */
export function answerCors(
  { headers: { origin }, method }: EdgeRequest,
  response: EdgeResponse,
  { allowedOrigins }: GuardOptions,
): boolean {
  if (origin === undefined || !allowedOrigins.has(origin)) return false;
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-expose-headers", cors.exposedHeaders.join(", "));
  response.setHeader("vary", "Origin");
  if (method !== "OPTIONS") return false;
  response.writeHead(204, {
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": ALLOWED_HEADERS,
    "access-control-max-age": "600",
  });
  response.end();
  return true;
}
