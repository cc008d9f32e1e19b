// Ends what HTTP/2 peers leave half open, as Node does for HTTP/1.1: a connection that sends its preface and nothing else, and a request
// whose body does not come. A stream in both directions (reflection) may stay open while it is used.
//
// Race survived: the body may end, or the caller leave, in the moment the time is up; a request is ended once, and only before its answer.

import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import { EngineError } from "@pawl/core/fault/engine-error";
import { type EdgeRequest, type EdgeResponse, isHttp2 } from "../request/exchange.ts";

export interface ArrivalTimes {
  /** From the connection to its first frame. */
  readonly headersMs: number;
  /** From the head of a request to the end of its body. */
  readonly bodyMs: number;
}

/** A stream in both directions that neither side uses for this long is over. */
const IDLE_MS = 5 * 60_000;

/** Ends a connection whose peer does not begin to speak: SETTINGS come first, by the protocol. */
export function expectSettings(session: ServerHttp2Session, { headersMs }: ArrivalTimes): void {
  const timer = setTimeout(() => session.destroy(), headersMs);
  timer.unref();
  const settle = (): void => clearTimeout(timer);
  session.once("remoteSettings", settle);
  session.once("close", settle);
}

/** Refuses a request over HTTP/2 whose body does not end in time; `refuse` answers it. */
export function expectBody(
  request: EdgeRequest,
  response: EdgeResponse,
  { bodyMs }: ArrivalTimes,
  refuse: (error: EngineError, httpStatus: number) => void,
): void {
  if (!isHttp2(request)) return;
  // Over HTTP/2 the compatibility API gives both a stream, which the types of HTTP/1.1 do not know.
  const { stream } = request as unknown as { readonly stream: ServerHttp2Stream };
  if (stream.endAfterHeaders) return;
  const late = (): void => {
    if (response.headersSent) {
      stream.setTimeout(IDLE_MS, () => stream.close());
      return;
    }
    // Trailers are the last thing of an answer; a stream that is closed before they left loses them.
    stream.once("wantTrailers", () => setImmediate(() => stream.close()));
    refuse(new EngineError("DEADLINE_PASSED", `The request did not arrive in ${bodyMs} ms.`), 408);
  };
  const timer = setTimeout(late, bodyMs);
  const settle = (): void => clearTimeout(timer);
  request.once("end", settle);
  response.once("close", settle);
}
