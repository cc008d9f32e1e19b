// A relay before a bucket: a server on loopback that passes requests on, and spoils those of a method while a fault is on.

import { once } from "node:events";
import { createServer, type IncomingMessage, request as ask, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { LOOPBACK } from "@pawl/deploy/ports.ts";

export const BUCKET_FAULTS = [
  "the bucket answers 503",
  "the connection is cut in the middle of the object",
  "the connection is cut before the answer",
] as const;
type BucketFault = (typeof BUCKET_FAULTS)[number];

export interface FaultyBucket {
  readonly endpoint: string;
  /** Spoils every request of this method from now on, and counts from 0 again. */
  spoil(method: "PUT" | "GET", fault: BucketFault): void;
  /** How many requests the present fault has spoiled. */
  spoiled(): number;
  mend(): void;
  stop(): Promise<void>;
}

const bytesOf = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
};
const half = (body: Buffer): Buffer => body.subarray(0, Math.ceil(body.length / 2));

/** Starts a relay before the bucket at this address. */
export async function startFaultyBucket(target: string): Promise<FaultyBucket> {
  let spoils: { readonly method: string; readonly fault: BucketFault } | undefined;
  let spoiled = 0;
  const server = createServer((request, response) => {
    const fault = spoils?.method === request.method ? spoils?.fault : undefined;
    void relay({ target, request, response, fault })
      // The bucket hung up, so the caller gets no answer either.
      .catch(() => response.destroy())
      .finally(() => fault !== undefined && (spoiled += 1));
  });
  server.listen(0, LOOPBACK);
  await once(server, "listening");
  return {
    endpoint: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`,
    spoil: (method, fault) => {
      spoils = { method, fault };
      spoiled = 0;
    },
    spoiled: () => spoiled,
    mend: () => (spoils = undefined),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface Relayed {
  readonly target: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly fault: BucketFault | undefined;
}

async function relay({ target, request, response, fault }: Relayed): Promise<void> {
  const body = await bytesOf(request);
  if (fault === "the bucket answers 503") {
    response.writeHead(503).end("<Error><Code>SlowDown</Code></Error>");
    return;
  }
  const { method, headers } = request;
  const onward = ask(new URL(request.url ?? "/", target), { method, headers });
  const isCut = fault === "the connection is cut in the middle of the object";
  if (isCut && method === "PUT") {
    // The bucket has the head and a half of the object.
    await new Promise((resolve) => onward.write(half(body), resolve));
    onward.on("error", () => undefined).destroy();
    response.destroy();
    return;
  }
  onward.end(body);
  const [answer] = (await once(onward, "response")) as [IncomingMessage];
  const bytes = await bytesOf(answer);
  if (fault === "the connection is cut before the answer") {
    response.destroy();
    return;
  }
  response.writeHead(answer.statusCode ?? 500, answer.headers);
  if (!isCut) response.end(bytes);
  else response.write(half(bytes), () => response.destroy());
}
