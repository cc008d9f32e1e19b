import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { createGrpcClient } from "@pawl/platform/rpc/grpc-client";
import { HandlerService } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { expect, onTestFinished, test, vi } from "vitest";
import { setup, startHost } from "./host.fixture.ts";
import { HOST_LIMITS } from "./limits.ts";

test("Hello opens a session with the limits and the times of the host", async () => {
  const { process, register, seen } = await setup({
    name: "billing",
    build: "abc",
    sdk: "raw 1",
    language: "ts",
    slots: 3,
    handlers: [{ type: "acme.echo@2", description: "echoes", inputSchema: '{"type":"object"}' }],
  });
  expect(register).toMatchObject({
    nodeTypes: ["acme.echo@2"],
    slots: 3,
    token: "",
    process: { name: "billing", build: "abc", sdk: "raw 1", language: "ts" },
    descriptors: [{ type: "acme.echo@2", description: "echoes", inputSchema: '{"type":"object"}' }],
  });
  await seen({ name: "billing", types: ["acme.echo@2"], refused: [], slots: 3, busy: 0, state: 1 });
  const again = process.begin({
    opening: { case: "resume", value: { sessionId: process.sessionId } },
  });
  expect(await again).toMatchObject({
    case: "welcome",
    value: {
      resumed: true,
      pingMs: 5_000n,
      silenceMs: 15_000n,
      resumeMs: 3_000n,
      limits: { outputBytes: 7_340_032n, windowBytes: 262_144n, logLines: 1_000 },
    },
  });
});

test("a second Hello with the same session_id is refused, and the first session stays", async () => {
  const { process, join, seen } = await setup();
  const other = join();
  const value = {
    sessionId: process.sessionId,
    protocol: 1,
    slots: 1,
    handlers: [{ type: "a.b" }],
  };
  await expect(other.begin({ opening: { case: "hello", value } })).rejects.toMatchObject({
    reason: "SESSION_IN_USE",
  });
  await seen({ name: "scripted", state: 1 });
});

test("another version of the protocol is refused with the version that the host speaks", async () => {
  const { join } = await startHost();
  await expect(join().hello({ protocol: 2 })).rejects.toMatchObject({
    reason: "PROTOCOL_UNSUPPORTED",
    metadata: { supported: "1" },
  });
});

test.each([
  [{ sessionId: "me" }, "hello.session_id"],
  [{ slots: 0 }, "hello.slots"],
  [{ slots: 10_001 }, "hello.slots"],
  [{ handlers: [] }, "hello.handlers"],
  [{ handlers: [{ type: "a.b" }, { type: "a.b" }] }, "hello.handlers[1].type"],
  [{ handlers: [{ type: "a.b", stallMs: 86_400_001n }] }, "hello.handlers[0].stall_ms"],
  [{ name: "x".repeat(201) }, "hello.name"],
])("a Hello with a wrong field is refused with the field: %o", async (hello, field) => {
  const { join, sessions } = await startHost();
  await expect(join().hello(hello)).rejects.toMatchObject({
    reason: "INPUT_INVALID",
    metadata: { field },
  });
  expect(await sessions()).toEqual([]);
});

test("a first message without an opening ends the stream and changes nothing", async () => {
  const { join, sessions } = await startHost();
  const first = { items: [{ item: { case: "pong" as const, value: {} } }], firstSeq: 1n };
  await expect(join().begin(first)).rejects.toMatchObject({
    reason: "INPUT_INVALID",
    metadata: { field: "opening" },
  });
  expect(await sessions()).toEqual([]);
});

test("a first message that is no protobuf is refused as invalid, and the host serves on", async () => {
  const { address, join } = await startHost();
  const session = connect(`http://${address}`);
  onTestFinished(() => session.destroy());
  const request = session.request({
    ":method": "POST",
    ":path": "/pawl.handler.v1.HandlerService/Serve",
    "content-type": "application/grpc",
    te: "trailers",
  });
  // A frame of four bytes that end in the middle of a field.
  request.write(Buffer.from([0, 0, 0, 0, 4, 0x0a, 0xff, 0xff, 0xff]));
  request.resume();
  // The answer has no message, so its status comes with the headers.
  const [headers] = (await once(request, "response")) as [IncomingHttpHeaders];
  expect(headers["grpc-status"]).toBe("3");
  expect((await join().hello()).case).toBe("welcome");
});

test("a message over message_bytes ends the stream with the limit", async () => {
  const { address, sessions } = await startHost();
  const client = createGrpcClient(HandlerService, address, { messageBytes: 32 * 1024 * 1024 });
  onTestFinished(() => client.close());
  const stream = client.open.serve();
  stream.listen({ message: () => undefined });
  const handlers = [{ type: "a.b", description: "x".repeat(HOST_LIMITS.messageBytes) }];
  stream.write({ opening: { case: "hello", value: { protocol: 1, handlers } } });
  expect((await stream.closed).error).toMatchObject({ reason: "LIMIT_EXCEEDED" });
  expect(await sessions()).toEqual([]);
});

test("an opening in a later message ends the stream", async () => {
  const { process } = await setup();
  process.raw({ opening: { case: "resume", value: { sessionId: process.sessionId } } });
  expect((await process.closed()).error).toMatchObject({ reason: "INPUT_INVALID" });
});

test("an unknown session is lost", async () => {
  const { join } = await startHost();
  const sessionId = randomUUID();
  const opening = await join().begin({ opening: { case: "resume", value: { sessionId } } });
  expect(opening.case).toBe("lost");
});

test("a host with a token serves only processes that send it", async () => {
  const token = { reveal: () => "a-token-of-the-tests" };
  const { join } = await startHost({ token });
  await expect(join().hello()).rejects.toMatchObject({ reason: "FORBIDDEN" });
  await expect(join({ authorization: "Bearer wrong" }).hello()).rejects.toMatchObject({
    reason: "FORBIDDEN",
  });
  const opening = await join({ authorization: "Bearer a-token-of-the-tests" }).hello();
  expect(opening.case).toBe("welcome");
});

test("built-in and bad types are refused alone, and the others serve", async () => {
  const { process, register, seen } = await setup({
    handlers: [
      { type: "javascript" },
      { type: "bad name" },
      { type: "acme.schema", inputSchema: "{" },
      { type: "acme.echo" },
    ],
  });
  expect(register.nodeTypes).toEqual(["acme.echo"]);
  for (const expected of [
    { type: "javascript", reason: "TYPE_RESERVED" },
    { type: "bad name", reason: "TYPE_INVALID" },
    { type: "acme.schema", reason: "SCHEMA_INVALID" },
  ])
    expect(await process.received("refused")).toMatchObject(expected);
  await seen({ types: ["acme.echo"] });
});

test("a process whose types are all refused has a session and no work", async () => {
  const { join, sessions } = await startHost();
  const process = join();
  await process.hello({ handlers: [{ type: "http" }] });
  expect(await process.received("refused")).toMatchObject({ reason: "TYPE_RESERVED" });
  expect(await sessions()).toMatchObject([{ types: [], refused: [{ type: "http" }] }]);
});

test("a type that the scheduler refuses is shown and reported to the process once", async () => {
  const { process, scheduler, seen } = await setup();
  const refused = [{ type: "acme.echo", reason: "TYPE_CONFLICT", message: "make it @2" }];
  const registered = { schedulerId: "peer", renewMs: 60_000n, leaseMs: 180_000n, refused };
  scheduler.send(
    { case: "registered", value: registered },
    { case: "registered", value: registered },
  );
  expect(await process.received("refused")).toMatchObject(refused[0] ?? {});
  await seen({ types: [], refused: [expect.objectContaining({ reason: "TYPE_CONFLICT" })] });
  await vi.waitFor(() =>
    expect(process.names.filter((name) => name === "refused")).toHaveLength(1),
  );
});
