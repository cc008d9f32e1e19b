// GET /execute/workflows/:runId/events: the events of WatchRun as Server-Sent Events. The cursor is `id:`, and a browser sends the last one
// back by itself. A fetch client asks with `?afterEventId=`. If a request has both, `afterEventId` counts.

import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { toEngineError } from "@pawl/platform/rpc/status";
import { METRICS, SPANS } from "@pawl/platform/telemetry/catalogue";
import { contextFrom, serverSide, withSpan } from "@pawl/platform/telemetry/trace";
import { cursorOfText, runIdOf } from "@pawl/platform/wire/fields";
import type { ContextAt, LoggedEvent } from "../watch/logged-event.ts";
import type { Watch, WatchStream } from "../watch/watch-run.ts";
import {
  drained,
  type EdgeHandler,
  type EdgeRequest,
  type EdgeResponse,
  isHttp2,
  pathOf,
  queryOf,
  type Refuse,
} from "../request/exchange.ts";

const ROUTE = /^\/execute\/workflows\/([^/]+)\/events$/;
/** How long a browser waits before it reconnects. */
const RETRY_MS = 1_000;

interface SseOptions {
  readonly watch: Watch;
  /** The context in updates of a run's status. */
  readonly contextAt: ContextAt;
  readonly refuse: Refuse;
}

/** Answers this route and no other. */
export function createSse(options: SseOptions): EdgeHandler {
  return (request, response) => {
    const match = ROUTE.exec(pathOf(request));
    if (match === null) return false;
    const { traceparent } = request.headers;
    const parent = contextFrom(typeof traceparent === "string" ? traceparent : undefined);
    void withSpan(SPANS.eventStream, { parent, kind: serverSide }, () =>
      serve(options, request, response, match[1] ?? ""),
    );
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
      runId: runIdOf(decode(runIdText)),
      afterSeq: cursorOf(request),
      types: typesOf(request),
      signal: gone.signal,
      abandon: () => void response.destroy(),
    });
    await send(watching, framesOf(request, options.contextAt), request, response);
  } catch (error) {
    if (gone.signal.aborted) return;
    if (!response.headersSent) options.refuse(request, response, error);
    else response.end(lastWords(toEngineError(error)));
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
  // A watch without any batch means that the caller has the terminal event already. 204 keeps a browser from asking again.
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

function cursorOf(request: EdgeRequest): number {
  const asked = parameterOf(request, "afterEventId");
  if (asked !== undefined) return cursorOfText("afterEventId", asked);
  const last = request.headers["last-event-id"];
  if (last === undefined || last === "") return 0;
  return cursorOfText("Last-Event-ID", Array.isArray(last) ? last.join() : last);
}

/** `?view=updates`: updates of node and run status instead of the events. */
function framesOf(request: EdgeRequest, contextAt: ContextAt): Frames {
  const asked = parameterOf(request, "view") ?? "events";
  if (asked === "events") return async (batch) => batch.map(({ frame }) => frame).join("");
  if (asked === "updates")
    return async (batch) =>
      (await Promise.all(batch.map((event) => event.update(contextAt)))).join("");
  throw invalidField("view", "UNKNOWN_VIEW", "must be events or updates");
}

/** A parameter that may be given once. */
function parameterOf(request: EdgeRequest, name: string): string | undefined {
  const [asked, ...more] = queryOf(request).getAll(name);
  if (more.length > 0) throw invalidField(name, "REPEATED", "is given more than once");
  return asked;
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
