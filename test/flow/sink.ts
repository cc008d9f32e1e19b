// A receiver of effects: it records every call and answers when the test asks for it. A test can hold a node for as long as it needs,
// without any clock.
import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { until } from "../support/until.ts";

/** Lets http nodes of a cluster reach a sink. */
export const SINK_EGRESS = { PAWL_ALLOW_PRIVATE_EGRESS: "127.0.0.0/8" } as const;

/** One call as it arrived. */
export type Received = {
  /** The path without its slash. */
  readonly name: string;
  readonly idempotencyKey: string;
  /** Of the caller's span; empty if there is none. */
  readonly traceparent: string;
  /** When it arrived, in milliseconds since the epoch. */
  readonly at: number;
  /** Settles when the caller hung up before it was answered. */
  readonly hungUp: Promise<void>;
  /** Whether it was neither answered nor aborted yet. */
  readonly isOpen: boolean;
  answer(status: number, body?: unknown, headers?: Readonly<Record<string, string>>): void;
};

/** A status, or one with headers. */
export type Reply =
  | number
  | { readonly status: number; readonly headers: Readonly<Record<string, string>> };

/** A listening sink. */
export type Sink = {
  readonly calls: readonly Received[];
  url(name: string): string;
  /** The nth call to a name, from 1, once it is here. */
  received(name: string, nth?: number): Promise<Received>;
  stop(): Promise<void>;
};

/** Starts a sink. Calls to a name in `held` wait for `answer`; the others get what `respond` says, 200 by default. */
export async function startSink(
  options: {
    readonly held?: (name: string) => boolean;
    readonly respond?: (name: string, nth: number) => Reply;
  } = {},
): Promise<Sink> {
  const { held = (name) => name.startsWith("hold"), respond = () => 200 } = options;
  const calls: Received[] = [];
  const server = createServer((request, response) => {
    const call = received(request, response);
    calls.push(call);
    const nth = calls.filter(({ name }) => name === call.name).length;
    if (held(call.name)) return;
    const reply = respond(call.name, nth);
    if (typeof reply === "number") call.answer(reply);
    else call.answer(reply.status, {}, reply.headers);
  });
  server.listen(0, LOOPBACK);
  await once(server, "listening");
  // A server listening on TCP always has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    calls,
    url: (name) => `http://${LOOPBACK}:${port}/${name}`,
    received: (name, nth = 1) =>
      until(() => calls.filter((call) => call.name === name)[nth - 1], {
        what: `call ${nth} of ${name}`,
      }),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function received(request: IncomingMessage, response: ServerResponse): Received {
  request.resume();
  const { promise: hungUp, resolve } = Promise.withResolvers<void>();
  response.once("close", () => {
    if (!response.writableFinished) resolve();
  });
  return {
    name: (request.url ?? "/").slice(1),
    idempotencyKey: String(request.headers["idempotency-key"] ?? ""),
    traceparent: String(request.headers["traceparent"] ?? ""),
    at: Date.now(),
    hungUp,
    get isOpen() {
      return !response.writableEnded && !response.destroyed;
    },
    answer: (status, body = {}, headers = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(body));
    },
  };
}
