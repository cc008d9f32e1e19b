// What every request must pass before anything looks at it: bounded headers, a host that is ours, and an origin that is ours.
//
// The host check is against DNS rebinding: a page of another site that makes its own name resolve to loopback still sends its
// own name. The origin check is against other sites (and other ports of this machine) that call us from someone's browser.

import { EngineError } from "@pawl/core/fault/engine-error";
import { hostOf, LOOPBACK_NAMES, namesTwoHosts } from "@pawl/platform/config/hosts";
import { authorityOf, type EdgeRequest } from "../request/exchange.ts";

/** Node takes HTTP/2's header list size for advice only (measured), so both are counted here. */
export const HEADER_LIMITS = { bytes: 16 * 1024, pairs: 64 } as const;

export interface GuardOptions {
  /** Host names besides loopback under which this gateway may be called, without ports. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Origins besides our own, such as http://localhost:5173. */
  readonly allowedOrigins: ReadonlySet<string>;
}

/** Why a request is refused, with the HTTP status for callers that speak no RPC; undefined lets it pass. */
export type Refusal = { readonly error: EngineError; readonly httpStatus: number } | undefined;

/** Checks a request; runs before routing. */
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

/** True for an origin that is not our own but was allowed, and therefore needs to be told so. */
export const isForeignOrigin = (request: EdgeRequest, options: GuardOptions): boolean =>
  request.headers.origin !== undefined && options.allowedOrigins.has(request.headers.origin);
