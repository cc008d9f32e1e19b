// A receiver of webhooks on loopback. It keeps every call, and answers as the test says.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { until } from "../support/until.ts";

/** One call as it arrived. */
export type WebhookCall = {
  readonly path: string;
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

export type Receiver = {
  readonly calls: readonly WebhookCall[];
  url(path: string): string;
  /** The nth call to a path, from 1, once it is here. */
  received(path: string, nth?: number): Promise<WebhookCall>;
  stop(): Promise<void>;
};

type Answer = (path: string, nth: number, response: ServerResponse) => void;

/** Starts a receiver. It answers 200 unless the test says otherwise. */
export async function startReceiver(
  answer: Answer = (_path, _nth, response) => void response.end(),
): Promise<Receiver> {
  const calls: WebhookCall[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.once("end", () => {
      const path = (request.url ?? "/").slice(1);
      const { headers } = request;
      const id = String(headers["webhook-id"] ?? "");
      calls.push({ path, id, headers, body: Buffer.concat(parts).toString("utf8") });
      answer(path, calls.filter((call) => call.path === path).length, response);
    });
  });
  server.listen(0, LOOPBACK);
  await once(server, "listening");
  // A server listening on TCP always has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    calls,
    url: (path) => `http://${LOOPBACK}:${port}/${path}`,
    received: (path, nth = 1) =>
      until(() => calls.filter((call) => call.path === path)[nth - 1], {
        what: `call ${nth} of ${path}`,
      }),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
