// Ends half-open connections and requests of HTTP/2, as Node does for HTTP/1.1: a connection that sends only its preface, and a request
// whose body does not arrive. A stream in both directions (reflection) may stay open while it is used.
//
// Race: the body ends, or the caller leaves, at the moment the time is up. The gateway ends a request once, and only before its answer.

import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import { EngineError } from "@pawl/core/fault/engine-error";
import { type EdgeRequest, type EdgeResponse, isHttp2 } from "../request/exchange.ts";

export interface ArrivalTimes {
  /** The time from the connection to its first frame. */
  readonly headersMs: number;
  /** The time from the head of a request to the end of its body. */
  readonly bodyMs: number;
}

/** A stream in both directions ends if neither side uses it for this long. */
const IDLE_MS = 5 * 60_000;

/** Ends a connection whose peer does not send SETTINGS, which must come first. */
export function expectSettings(session: ServerHttp2Session, { headersMs }: ArrivalTimes): void {
  const timer = setTimeout(() => session.destroy(), headersMs);
  timer.unref();
  const settle = (): void => clearTimeout(timer);
  session.once("remoteSettings", settle);
  session.once("close", settle);
}

/** Refuses an HTTP/2 request whose body does not end in time. `refuse` answers it. */
export function expectBody(
  request: EdgeRequest,
  response: EdgeResponse,
  { bodyMs }: ArrivalTimes,
  refuse: (error: EngineError, httpStatus: number) => void,
): void {
  if (!isHttp2(request)) return;
  // The compatibility API adds the HTTP/2 stream, which the types of HTTP/1.1 do not have.
  const { stream } = request as unknown as { readonly stream: ServerHttp2Stream };
  if (stream.endAfterHeaders) return;
  const late = (): void => {
    if (response.headersSent) {
      stream.setTimeout(IDLE_MS, () => stream.close());
      return;
    }
    // Trailers come last in an answer, so the stream may be closed only after them.
    stream.once("wantTrailers", () => setImmediate(() => stream.close()));
    refuse(new EngineError("DEADLINE_PASSED", `The request did not arrive in ${bodyMs} ms.`), 408);
  };
  const timer = setTimeout(late, bodyMs);
  const settle = (): void => clearTimeout(timer);
  request.once("end", settle);
  response.once("close", settle);
}
