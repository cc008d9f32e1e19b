// The outside world: it counts every call by its Idempotency-Key, and takes up to a fifth of a second to answer.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import type { Random } from "../stress/random.ts";

const LATENCY_MS = 200;

/** A listening sink of effects. */
export type Effects = {
  readonly url: string;
  /** Calls by key. */
  readonly calls: ReadonlyMap<string, number>;
  stop(): Promise<void>;
};

/** Starts it. */
export async function startEffects(random: Random): Promise<Effects> {
  const calls = new Map<string, number>();
  const server = createServer((request, response) => {
    request.resume();
    const key = String(request.headers["idempotency-key"] ?? "");
    calls.set(key, (calls.get(key) ?? 0) + 1);
    setTimeout(() => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end("{}");
    }, random() * LATENCY_MS);
  });
  server.listen(0, LOOPBACK);
  await once(server, "listening");
  // A server listening on TCP always has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${LOOPBACK}:${port}/effect`,
    calls,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
