// GET /execute/workflows/:runId/events: the events of WatchRun as Server-Sent Events. The cursor is `id:`, and a browser sends the last one
// back by itself. A fetch client asks with `?afterEventId=`. If a request has both, `afterEventId` counts.

import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { isTerminalType } from "@pawl/core/log/event";
import { toEngineError } from "@pawl/platform/rpc/status";
import { METRICS, SPANS } from "@pawl/platform/telemetry/catalogue";
import { contextFrom, serverSide, withSpan } from "@pawl/platform/telemetry/trace";
import { cursorOfText, runIdOf } from "@pawl/platform/wire/fields";
import { type View, viewOfQuery } from "../request/view-fields.ts";
import { projected } from "../watch/project.ts";
import { type ViewDeps, type ViewedEvent, watchEvents, watchItems } from "../watch/view.ts";
import type { WatchRequest } from "../watch/watch-run.ts";
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

interface SseOptions extends ViewDeps {
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
    const asked = {
      runId: runIdOf(decode(runIdText)),
      afterSeq: cursorOf(request),
      signal: gone.signal,
      abandon: () => void response.destroy(),
    };
    await send(framesOf(options, asked, request), request, response);
  } catch (error) {
    if (gone.signal.aborted) return;
    if (!response.headersSent) options.refuse(request, response, error);
    else response.end(lastWords(toEngineError(error)));
  }
}

/** The frames of some events. No frames mean a heartbeat. */
interface Frames {
  readonly count: number;
  readonly text: string;
}
type FrameStream = AsyncGenerator<Frames, void, undefined>;

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

type Asked = Omit<WatchRequest, "types" | "known">;

/** The stream in the form that the query names. `?view=updates`: updates of node and run status instead of the events. */
function framesOf(deps: ViewDeps, asked: Asked, request: EdgeRequest): FrameStream {
  const view = viewOfQuery((name) => listOf(request, name));
  const form = parameterOf(request, "view") ?? "events";
  if (form === "updates" && view.modes.size > 0)
    throw invalidField("modes", "AMBIGUOUS", "cannot be combined with view=updates");
  if (form === "updates") return updateFrames(deps, asked, view);
  if (form !== "events") throw invalidField("view", "UNKNOWN_VIEW", "must be events or updates");
  return view.modes.size === 0 ? eventFrames(deps, asked, view) : itemFrames(deps, asked, view);
}

async function* eventFrames(deps: ViewDeps, asked: Asked, view: View): FrameStream {
  for await (const batch of watchEvents(deps, { ...asked, view }))
    yield { count: batch.length, text: batch.map(({ frame }) => frame).join("") };
}

async function* updateFrames({ watch, reader }: ViewDeps, asked: Asked, view: View): FrameStream {
  const { types } = view;
  const watching = watch({ ...asked, types: new Set() });
  const updates = projected(watching, {
    stateBefore: reader.stateBefore,
    project: (logged, state) => {
      const { type } = logged.event;
      const isWanted = types.size === 0 || types.has(type) || isTerminalType(type);
      const text = state === undefined || !isWanted ? "" : logged.update(state);
      return text === "" ? undefined : { text, bytes: text.length };
    },
  });
  for await (const batch of updates)
    yield { count: batch.length, text: batch.map(({ text }) => text).join("") };
}

/** Only the last item of an event has an `id:`. So a browser that was cut off between two of them gets all of them again. */
async function* itemFrames(deps: ViewDeps, asked: Asked, view: View): FrameStream {
  for await (const batch of watchItems(deps, { ...asked, view }))
    yield { count: batch.length, text: batch.map(itemFrame).join("") };
}

const itemFrame = ({ logged, items }: ViewedEvent): string => {
  const { seq, runId, at } = logged.event;
  const frames = items.map(({ mode, data = logged.json }, index) => {
    const id = index === items.length - 1 ? `id: ${seq}\n` : "";
    const head = `"eventId":${seq},"runId":"${runId}","mode":"${mode}","time":"${new Date(at).toISOString()}"`;
    return `${id}event: ${mode}\ndata: {${head},"data":${data}}\n\n`;
  });
  return frames.join("");
};

/** A parameter that may be given once. */
function parameterOf(request: EdgeRequest, name: string): string | undefined {
  const [asked, ...more] = queryOf(request).getAll(name);
  if (more.length > 0) throw invalidField(name, "REPEATED", "is given more than once");
  return asked;
}

/** The values of a parameter, with commas or given several times. */
const listOf = (request: EdgeRequest, name: string): readonly string[] =>
  queryOf(request)
    .getAll(name)
    .flatMap((list) => list.split(","))
    .filter((value) => value !== "");

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
