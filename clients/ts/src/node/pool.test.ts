import { once } from "node:events";
import { createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createPawlClient } from "../client.ts";

/** A gateway that takes a call and leaves the rest to the test. */
async function setup(onCall: (stream: ServerHttp2Stream) => void) {
  const server = createServer();
  server.on("sessionError", () => undefined);
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.on("error", () => undefined);
    onCall(stream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = createPawlClient({ baseUrl: `http://127.0.0.1:${port}`, attempts: 1 });
  onTestFinished(() => {
    client.close();
    server.close();
  });
  return client;
}

test("a call whose gateway dies is UNREACHABLE and may be repeated, a unary one as a stream", async () => {
  const client = await setup((stream) => stream.session?.destroy());
  const lost = { reason: "UNREACHABLE", retryable: true };
  await expect(client.runs.list()).rejects.toMatchObject(lost);
  const events = client.runs.execute("hello", { input: {} });
  await expect(events[Symbol.asyncIterator]().next()).rejects.toMatchObject(lost);
});

test("a call that its caller aborts is CALLER_CANCELLED", async () => {
  const arrived = Promise.withResolvers<void>();
  const client = await setup(() => arrived.resolve());
  const caller = new AbortController();
  const call = client.runs.list({ signal: caller.signal });
  await arrived.promise;
  caller.abort();
  await expect(call).rejects.toMatchObject({ reason: "CALLER_CANCELLED", retryable: false });
});
