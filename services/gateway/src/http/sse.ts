// Server-Sent Events: the events of one run, or of all runs of a thread. The cursor is `id:`, and a browser sends the last one back by
// itself. A fetch client asks with a parameter. If a request has both, the parameter counts.

import { EngineError } from "@pawl/core/fault/engine-error";
import { toEngineError } from "@pawl/platform/rpc/status";
import { METRICS, SPANS } from "@pawl/platform/telemetry/catalogue";
import { contextFrom, serverSide, withSpan } from "@pawl/platform/telemetry/trace";
import {
  drained,
  type EdgeHandler,
  type EdgeRequest,
  type EdgeResponse,
  isHttp2,
  pathOf,
  type Refuse,
} from "../request/exchange.ts";
import type { ViewDeps } from "../watch/view.ts";
import type { WatchRequest } from "../watch/watch-run.ts";
import type { FrameStream } from "./sse-frames.ts";
import { runFrames } from "./sse-run.ts";
import { type ThreadFrameDeps, threadFrames } from "./sse-thread.ts";

/** How long a browser waits before it reconnects. */
const RETRY_MS = 1_000;

interface SseOptions extends ViewDeps, ThreadFrameDeps {
  readonly refuse: Refuse;
}

/** The frames that a request asks for. `id` is from its path. @throws INPUT_INVALID */
type FramesOf = (
  options: SseOptions,
  request: EdgeRequest,
  id: string,
  caller: Pick<WatchRequest, "signal" | "abandon">,
) => FrameStream;

const ROUTES: readonly (readonly [RegExp, FramesOf])[] = [
  [/^\/execute\/workflows\/([^/]+)\/events$/, runFrames],
  [/^\/execute\/threads\/([^/]+)\/events$/, threadFrames],
];

/** Answers these routes and no other. */
export function createSse(options: SseOptions): EdgeHandler {
  return (request, response) => {
    const path = pathOf(request);
    for (const [route, framesOf] of ROUTES) {
      const id = route.exec(path)?.[1];
      if (id === undefined) continue;
      const { traceparent } = request.headers;
      const parent = contextFrom(typeof traceparent === "string" ? traceparent : undefined);
      void withSpan(SPANS.eventStream, { parent, kind: serverSide }, () =>
        serve(options, request, response, (caller) =>
          framesOf(options, request, decode(id), caller),
        ),
      );
      return true;
    }
    return false;
  };
}

async function serve(
  options: SseOptions,
  request: EdgeRequest,
  response: EdgeResponse,
  framesFor: (caller: Pick<WatchRequest, "signal" | "abandon">) => FrameStream,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  response.on("error", () => gone.abort());
  try {
    if (request.method !== "GET") {
      throw new EngineError("UNKNOWN_METHOD", "Only GET reads a stream of events.");
    }
    const abandon = (): void => void response.destroy();
    await send(framesFor({ signal: gone.signal, abandon }), request, response);
  } catch (error) {
    if (gone.signal.aborted) return;
    if (!response.headersSent) options.refuse(request, response, error);
    else response.end(lastWords(toEngineError(error)));
  }
}

async function send(
  stream: FrameStream,
  request: EdgeRequest,
  response: EdgeResponse,
): Promise<void> {
  let isOpen = false;
  for await (const { count, text } of stream) {
    if (!isOpen) open(request, response);
    isOpen = true;
    METRICS.eventsDelivered.add(count, {});
    if (!response.write(text === "" ? ": heartbeat\n\n" : text)) await drained(response);
  }
  // A watch without any batch means that the caller has everything already. 204 keeps a browser from asking again.
  if (!isOpen && !response.headersSent) response.writeHead(204);
  response.end();
}

function open(request: EdgeRequest, response: EdgeResponse): void {
  response.writeHead(200, {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache, no-transform",
    ...(isHttp2(request) ? {} : { Connection: "keep-alive" }),
    "X-Accel-Buffering": "no",
  });
  response.write(`retry: ${RETRY_MS}\n\n`);
}

/** A stream cannot change its status. So its last frame names the reason, without an `id:`, and the browser keeps its cursor. */
const lastWords = (error: EngineError): string =>
  `event: stream.ended\ndata: ${JSON.stringify({ reason: error.reason, message: error.message, metadata: error.metadata })}\n\n`;

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
