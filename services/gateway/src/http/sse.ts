// GET /execute/workflows/:runId/events: the events of WatchRun as Server-Sent Events. The cursor is `id:`; a browser
// sends the last one back by itself, and a fetch client asks with `?afterEventId=`, which wins when both are there.

import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { ContextAt, LoggedEvent } from "../watch/logged-event.ts";
import type { WatchRequest, WatchStream } from "../watch/watch-run.ts";
import { checkCursorText, checkRunId } from "../request/ingress.ts";
import {
  type EdgeHandler,
  type EdgeRequest,
  type EdgeResponse,
  isHttp2,
  pathOf,
  queryOf,
} from "../request/exchange.ts";

const ROUTE = /^\/execute\/workflows\/([^/]+)\/events$/;
/** How long a browser waits before it reconnects. */
const RETRY_MS = 1_000;

export interface SseOptions {
  readonly watch: (request: WatchRequest) => WatchStream;
  /** The context that pushes of a run's status carry. */
  readonly contextAt: ContextAt;
  /** Answers with an error while no headers are sent. */
  readonly refuse: (request: EdgeRequest, response: EdgeResponse, error: unknown) => void;
  /** What a stream that began already may be told of an error. */
  readonly toEngineError: (error: unknown) => EngineError;
}

/** Answers the route, and only it. */
export function createSse(options: SseOptions): EdgeHandler {
  return (request, response) => {
    const match = ROUTE.exec(pathOf(request));
    if (match === null) return false;
    void serve(options, request, response, match[1] ?? "");
    return true;
  };
}

async function serve(
  options: SseOptions,
  request: EdgeRequest,
  response: EdgeResponse,
  runIdText: string,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  response.on("error", () => gone.abort());
  try {
    if (request.method !== "GET") {
      throw new EngineError("UNKNOWN_METHOD", "Only GET reads a stream of events.");
    }
    const watching = options.watch({
      runId: checkRunId(decode(runIdText)),
      afterSeq: cursorOf(request),
      types: typesOf(request),
      signal: gone.signal,
      abandon: () => void response.destroy(),
    });
    await send(watching, framesOf(request, options.contextAt), request, response);
  } catch (error) {
    if (gone.signal.aborted) return;
    if (!response.headersSent) options.refuse(request, response, error);
    else response.end(lastWords(options.toEngineError(error)));
  }
}

/** The frames of a batch, in the view that the caller chose. */
type Frames = (batch: readonly LoggedEvent[]) => Promise<string>;

async function send(
  watching: WatchStream,
  framesFor: Frames,
  request: EdgeRequest,
  response: EdgeResponse,
): Promise<void> {
  let isOpen = false;
  for await (const batch of watching) {
    if (!isOpen) open(request, response);
    isOpen = true;
    METRICS.eventsDelivered.add(batch.length, {});
    const frames = batch.length === 0 ? ": heartbeat\n\n" : await framesFor(batch);
    if (frames === "") continue;
    if (!response.write(frames)) await drained(response);
  }
  // Nothing at all means that the caller has the terminal event already: 204 is what keeps a browser from asking again.
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

/** Waits until the socket takes more, or is gone. */
const drained = (response: EdgeResponse): Promise<void> =>
  new Promise((resolve) => {
    const settle = (): void => {
      response.off("drain", settle);
      response.off("close", settle);
      resolve();
    };
    response.on("drain", settle);
    response.on("close", settle);
    if (response.destroyed) settle();
  });

/** A stream cannot change its status; it says why it ends, without an `id:`, so that the browser's cursor stays. */
const lastWords = (error: EngineError): string =>
  `event: stream.ended\ndata: ${JSON.stringify({ reason: error.reason, message: error.message, metadata: error.metadata })}\n\n`;

function cursorOf(request: EdgeRequest): number {
  const asked = queryOf(request).getAll("afterEventId");
  if (asked.length > 1) throw invalidField("afterEventId", "REPEATED", "is given more than once");
  if (asked[0] !== undefined) return checkCursorText("afterEventId", asked[0]);
  const last = request.headers["last-event-id"];
  if (last === undefined || last === "") return 0;
  return checkCursorText("Last-Event-ID", Array.isArray(last) ? last.join() : last);
}

/** `?view=updates`: pushes of node and run status in place of the events. */
function framesOf(request: EdgeRequest, contextAt: ContextAt): Frames {
  const [asked = "events", ...more] = queryOf(request).getAll("view");
  if (more.length > 0) throw invalidField("view", "REPEATED", "is given more than once");
  if (asked === "events") return async (batch) => batch.map(({ frame }) => frame).join("");
  if (asked === "updates")
    return async (batch) =>
      (await Promise.all(batch.map((event) => event.update(contextAt)))).join("");
  throw invalidField("view", "UNKNOWN_VIEW", "must be events or updates");
}

function typesOf(request: EdgeRequest): ReadonlySet<string> {
  const lists = queryOf(request).getAll("types");
  return new Set(lists.flatMap((list) => list.split(",")).filter((type) => type !== ""));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
