// A provider in front of a real server on loopback, whose answers the test writes.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Secret } from "@pawl/platform/config/secret";
import { onTestFinished } from "vitest";
import { parseCidrs } from "@pawl/platform/egress/address";
import { guardedAgent } from "../egress/connect.ts";
import type { Egress } from "../egress/fetch.ts";
import { DEFAULT_EGRESS } from "@pawl/platform/egress/url";
import type { ProviderSettings } from "./call.ts";
import { ProviderFault, type LlmChunk, type LlmInput, type LlmProvider } from "./provider.ts";

export const KEY = "sk-test-1234567890";
export const INPUT: LlmInput = {
  messages: [{ role: "user", content: "Hello" }],
  responseFormat: "text",
  isStreamed: true,
};
export const SSE = { "content-type": "text/event-stream; charset=utf-8" };

interface Asked {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

/** Starts a server that answers every call, and the provider that calls it. */
export async function modelServer(
  make: (egress: Egress, settings: ProviderSettings) => LlmProvider,
  answer: (response: ServerResponse) => void,
  { allowed = "127.0.0.0/8", idleMs = 20_000 } = {},
) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { url = "", headers } = request;
      const body = JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
      asked.push({ url, headers, body });
      answer(response);
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const policy = { ...DEFAULT_EGRESS, allowed: parseCidrs(allowed) ?? [] };
  const agent = guardedAgent(policy);
  onTestFinished(async () => {
    await agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/v1/`;
  const settings = { baseUrl, apiKey: new Secret(KEY), idleMs };
  const provider = make({ agent, policy }, settings);
  const ask = async (input: Partial<LlmInput> = {}, signal = AbortSignal.timeout(10_000)) => {
    const chunks: LlmChunk[] = [];
    const stream = provider.stream("test-model", { ...INPUT, ...input }, signal);
    for await (const chunk of stream) chunks.push(chunk);
    return chunks;
  };
  const faultOf = async (...args: Parameters<typeof ask>): Promise<ProviderFault> => {
    const fault: unknown = await ask(...args).catch((error: unknown) => error);
    if (fault instanceof ProviderFault) return fault;
    throw new Error("no fault", { cause: fault });
  };
  return { asked, ask, faultOf };
}
