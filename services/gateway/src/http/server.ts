// The public port: one TCP port on loopback for HTTP/1.1 and HTTP/2, with one chain of handlers for both.
//
// States: listening → draining (no new connections; HTTP/2 peers get GOAWAY; open answers may finish) → closed.

import { createServer, type Server as Http1Server } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { EdgeHandler, EdgeRequest, EdgeResponse, Refuse } from "../request/exchange.ts";
import { answerCors, guard, type GuardOptions, HEADER_LIMITS } from "./guard.ts";
import { type ArrivalTimes, expectBody, expectSettings } from "./half-open.ts";
import { createOnePort } from "./one-port.ts";

interface EdgeServerOptions {
  readonly guard: GuardOptions;
  /** The server calls the handlers in this order. The first that accepts a request answers it. */
  readonly handlers: readonly EdgeHandler[];
  readonly refuse: Refuse;
  /** How long requests may take to arrive; default ARRIVAL. */
  readonly arrival?: ArrivalTimes;
}

/** Further connections wait in the kernel's backlog, or the kernel closes them at once. */
const CONNECTIONS_MAX = 10_000;
const ARRIVAL: ArrivalTimes = { headersMs: 10_000, bodyMs: 30_000 };
/** The server pings open connections, and closes one that does not answer in time. */
const PING_MS = 20_000;
const PING_ANSWER_MS = 20_000;

export class EdgeServer {
  readonly #http1: Http1Server;
  readonly #http2;
  readonly #port;
  readonly #sessions = new Set<ServerHttp2Session>();
  #pings: NodeJS.Timeout | undefined;

  constructor(options: EdgeServerOptions) {
    const { arrival = ARRIVAL } = options;
    const handle = (request: EdgeRequest, response: EdgeResponse): void => {
      expectBody(request, response, arrival, (error, httpStatus) =>
        options.refuse(request, response, error, httpStatus),
      );
      route(options, request, response);
    };
    this.#http1 = createServer(
      {
        maxHeaderSize: HEADER_LIMITS.bytes,
        headersTimeout: arrival.headersMs,
        requestTimeout: arrival.bodyMs,
        keepAliveTimeout: 65_000,
      },
      handle,
    );
    // The compatibility API gives HTTP/2 exchanges the shape of HTTP/1.1 ones.
    this.#http2 = createHttp2Server(HTTP2_LIMITS, handle as never);
    this.#http2.on("session", (session) => {
      this.#keep(session);
      expectSettings(session, arrival);
    });
    this.#http2.on("sessionError", () => undefined);
    this.#port = createOnePort({
      http1: (socket) => this.#http1.emit("connection", socket),
      http2: (socket) => this.#http2.emit("connection", socket),
    });
    this.#port.maxConnections = CONNECTIONS_MAX;
  }

  /** Starts to serve and returns the port. 0 takes a free one. */
  async listen(host: string, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#port.once("error", reject);
      this.#port.listen({ host, port, backlog: 1024 }, resolve);
    });
    // This HTTP/1.1 server gets its connections from the port and never listens itself. Node starts the timeouts of slow requests and the
    // list of idle connections with this event.
    this.#http1.emit("listening");
    this.#pings = setInterval(() => this.#pingAll(), PING_MS);
    this.#pings.unref();
    // A server listening on TCP always has such an address.
    return (this.#port.address() as AddressInfo).port;
  }

  /** Accepts no more connections and waits for open answers. After `graceMs` it closes the other connections. */
  async close(graceMs: number): Promise<void> {
    clearInterval(this.#pings);
    const closed = new Promise<void>((resolve) => this.#port.close(() => resolve()));
    for (const session of this.#sessions) session.close();
    this.#http1.closeIdleConnections();
    // A connection that answers its last request now becomes idle a moment later.
    const idle = setInterval(() => this.#http1.closeIdleConnections(), 50);
    const cut = setTimeout(() => this.#cut(), graceMs);
    await closed;
    clearInterval(idle);
    clearTimeout(cut);
    this.#http1.close();
    this.#http2.close();
  }

  #keep(session: ServerHttp2Session): void {
    this.#sessions.add(session);
    session.once("close", () => this.#sessions.delete(session));
    session.on("error", () => session.destroy());
  }

  #pingAll(): void {
    for (const session of this.#sessions) {
      if (session.destroyed) continue;
      const timer = setTimeout(() => session.destroy(), PING_ANSWER_MS);
      timer.unref();
      session.ping(() => clearTimeout(timer));
    }
  }

  #cut(): void {
    this.#http1.closeAllConnections();
    for (const session of this.#sessions) session.destroy();
  }
}

// A client may reset a stream as soon as it has its answer. That is an ordinary end of a call. With a limit of 100 at once and 20 a second,
// the gateway closed the connection of a caller that reset 150 streams a second. All other calls on it failed.
const RESETS_A_SECOND = 1_000;

const HTTP2_LIMITS = {
  settings: { maxConcurrentStreams: 100, maxHeaderListSize: HEADER_LIMITS.bytes },
  maxHeaderListPairs: HEADER_LIMITS.pairs + 8,
  maxSessionMemory: 8,
  maxSessionInvalidFrames: 100,
  maxOutstandingPings: 5,
  maxSettings: 32,
  streamResetBurst: RESETS_A_SECOND,
  streamResetRate: RESETS_A_SECOND,
  unknownProtocolTimeout: ARRIVAL.headersMs,
} as const;

const NOT_FOUND = new EngineError("UNKNOWN_METHOD", "The gateway serves nothing at this path.");

function route(options: EdgeServerOptions, request: EdgeRequest, response: EdgeResponse): void {
  // A peer that leaves early is not a fault. The handler gets `close`.
  request.on("error", () => undefined);
  response.on("error", () => undefined);
  const refusal = guard(request, options.guard);
  if (refusal !== undefined) {
    options.refuse(request, response, refusal.error, refusal.httpStatus);
    return;
  }
  if (answerCors(request, response, options.guard)) return;
  for (const handler of options.handlers) if (handler(request, response)) return;
  options.refuse(request, response, NOT_FOUND, 404);
}
