// Both ends of a stream against one another over real sockets.

import { EngineError } from "@pawl/core/fault/engine-error";
import { WorkerService } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, onTestFinished, test } from "vitest";

import type { BidiStream } from "./bidi.ts";
import { createGrpcClient } from "./grpc-client.ts";
import { startGrpcServer } from "./grpc-server.ts";
import { serve, type Implementation } from "./implementation.ts";

const setupWork = async (work: (stream: WorkStream) => void | Promise<void>) => {
  const faults: unknown[] = [];
  const server = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    services: [serve(WorkerService, { work })],
    onInternal: ({ error }) => void faults.push(error),
  });
  const client = createGrpcClient(WorkerService, `127.0.0.1:${server.port}`);
  onTestFinished(async () => {
    client.close();
    await server.stop(0);
  });
  return { server, faults, client };
};
type WorkHandler = NonNullable<Implementation<typeof WorkerService>["work"]>;
type WorkStream = Parameters<WorkHandler>[0];

const settled = { items: [{ item: { case: "renewed" as const, value: {} } }] };
const renew = { items: [{ item: { case: "renew" as const, value: {} } }] };

test("a bidirectional stream carries messages both ways in order and ends cleanly on both sides", async () => {
  const served = Promise.withResolvers<unknown>();
  const { client } = await setupWork((stream) => {
    stream.listen({
      message: ({ items }) => {
        stream.write({ items: items.map(() => ({ item: { case: "renewed", value: {} } })) });
      },
      end: () => stream.end(),
    });
    served.resolve(stream.closed);
  });
  const stream = client.open.work();
  const sizes: number[] = [];
  stream.listen({ message: ({ items }) => void sizes.push(items.length) });
  for (let size = 1; size <= 5; size += 1) {
    stream.write({
      items: Array.from({ length: size }, () => ({ item: { case: "credit", value: {} } })),
    });
  }
  stream.end();
  expect(await stream.closed).toEqual({});
  expect(await served.promise).toEqual({});
  expect(sizes).toEqual([1, 2, 3, 4, 5]);
  expect(stream.signal.aborted).toBe(true);
});

test("a server ends a stream with an error and its details", async () => {
  const { client } = await setupWork((stream) =>
    stream.fail(new EngineError("DRAINING", "stopping")),
  );
  const stream = client.open.work();
  stream.listen({ message: () => undefined });
  expect((await stream.closed).error).toMatchObject({ reason: "DRAINING", retryAfterMs: 1_000 });
});

test("a rejected stream handler is INTERNAL and logged", async () => {
  const bug = new Error("bug");
  const { client, faults } = await setupWork(() => Promise.reject(bug));
  const stream = client.open.work();
  stream.listen({ message: () => undefined });
  expect((await stream.closed).error?.reason).toBe("INTERNAL");
  expect(faults).toEqual([bug]);
});

test("a client that goes away closes the server's end, and writing there is harmless afterwards", async () => {
  const opened = Promise.withResolvers<BidiStream<unknown, typeof settled>>();
  const { client } = await setupWork((stream) => {
    stream.listen({ message: () => opened.resolve(stream) });
  });
  const stream = client.open.work();
  stream.listen({ message: () => undefined });
  stream.write(renew);
  const served = await opened.promise;
  stream.fail(new EngineError("CALLER_CANCELLED", "the opener left"));
  expect((await stream.closed).error?.reason).toBe("CALLER_CANCELLED");
  expect((await served.closed).error?.reason).toBe("CALLER_CANCELLED");
  expect(served.write(settled)).toBe(true);
  await served.drained();
  served.fail(new EngineError("DRAINING", "too late"));
  served.end();
});

test("a server that is gone closes the client's end as unavailable", async () => {
  const opened = Promise.withResolvers<void>();
  const { client, server } = await setupWork((stream) => {
    stream.listen({ message: () => opened.resolve() });
  });
  const stream = client.open.work();
  stream.listen({ message: () => undefined });
  stream.write(renew);
  await opened.promise;
  await server.stop(0);
  expect((await stream.closed).error?.retryable).toBe(true);
});

test("write reports a full buffer, and drained waits until it has room", async () => {
  const reading = Promise.withResolvers<BidiStream<unknown, unknown>>();
  let received = 0;
  const { client } = await setupWork((stream) => reading.resolve(stream));
  const stream = client.open.work();
  stream.listen({ message: () => undefined });
  const text = "x".repeat(64 * 1_024);
  const big = { items: [{ item: { case: "delta" as const, value: { text } } }] };
  let sent = 1;
  while (stream.write(big)) sent += 1;
  const served = await reading.promise;
  served.listen({ message: () => void (received += 1), end: () => served.end() });
  await stream.drained();
  stream.end();
  await stream.closed;
  expect(received).toBe(sent);
});
