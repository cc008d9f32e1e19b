// A model server with both common APIs: it records its requests and streams the texts of the test, over real SSE.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { LOOPBACK } from "@pawl/deploy/ports.ts";

/** One question as it arrived. */
type Asked = {
  readonly model: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Of the caller's span; empty if there is none. */
  readonly traceparent: string;
  /** When, in milliseconds since the epoch. */
  readonly at: number;
  /** Settles when the caller hung up before the answer was whole. */
  readonly hungUp: Promise<void>;
};

/** A listening model server. */
export type ModelServer = {
  readonly asked: readonly Asked[];
  /** What PAWL_LLM_PROVIDERS of an executor names it with: `main` is of the kind openai, `other` of the kind anthropic. */
  readonly providers: string;
  stop(): Promise<void>;
};

/** Starts one; `answer` gets the question and how many there were for this model, from 1. */
export async function startModelServer(
  answer: (asked: Asked, nth: number, response: ServerResponse) => void,
): Promise<ModelServer> {
  const all: Asked[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { promise: hungUp, resolve } = Promise.withResolvers<void>();
      response.once("close", () => {
        if (!response.writableFinished) resolve();
      });
      const body = JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
      const traceparent = String(request.headers["traceparent"] ?? "");
      const asked = { model: String(body["model"]), body, traceparent, at: Date.now(), hungUp };
      all.push(asked);
      answer(asked, all.filter(({ model }) => model === asked.model).length, response);
    });
  });
  server.listen(0, LOOPBACK);
  await once(server, "listening");
  // A server listening on TCP always has such an address.
  const { port } = server.address() as AddressInfo;
  const own = { base_url: `http://${LOOPBACK}:${port}/v1`, api_key: "sk-flow" };
  const providers = { main: { kind: "openai", ...own }, other: { kind: "anthropic", ...own } };
  return {
    asked: all,
    providers: JSON.stringify(providers),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Begins a stream. */
export const openStream = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { "content-type": "text/event-stream" });

/** One event of a stream. */
export const event = (value: unknown): string => `data: ${JSON.stringify(value)}\r\n\r\n`;

/** A piece of an answer. */
export const piece = (delta: unknown, finish: string | null = null): string =>
  event({ choices: [{ index: 0, delta, finish_reason: finish }] });
