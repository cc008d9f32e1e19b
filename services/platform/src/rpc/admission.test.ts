// Calls made of frames, over real sockets: hosts, deadlines, requests that do not arrive and requests that do not parse.

import { once } from "node:events";
import http2 from "node:http2";
import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { ErrorInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import { StatusSchema } from "@pawl/proto/google/rpc/status_pb";
import { CommandService } from "@pawl/proto/pawl/command/v1/command_service_pb";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, onTestFinished, test } from "vitest";

import { serveCommands } from "../lanes/command-server.ts";
import { startGrpcServer } from "./grpc-server.ts";
import { serve } from "./implementation.ts";

const UNARY = `/${RunService.typeName}/GetRun`;
const BIDI = `/${CommandService.typeName}/Carry`;

interface Options {
  readonly allowedHosts: readonly string[];
  readonly requestMs: number;
}

/** `requestMs`: how long a request may take to arrive. */
async function setup({ allowedHosts = [], requestMs = 30_000 }: Partial<Options> = {}) {
  const runs = serve(RunService, { getRun: async () => ({}) });
  const commands = serveCommands([runs], () => undefined);
  const server = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    services: [runs, commands.service],
    onInternal: () => undefined,
    allowedHosts,
    requestMs,
  });
  onTestFinished(() => server.stop(0));
  const session = http2.connect(`http://127.0.0.1:${server.port}`);
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  return session;
}

interface Call {
  readonly path: string;
  readonly headers?: http2.OutgoingHttpHeaders;
  /** What is sent; left open where there is nothing. */
  readonly message?: Uint8Array;
}

/** The status a call ends with, and the reason in its details. */
async function call(session: http2.ClientHttp2Session, { path, headers = {}, message }: Call) {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  stream.on("error", () => undefined);
  let said: http2.IncomingHttpHeaders = {};
  stream.on("response", (received) => void (said = { ...said, ...received }));
  stream.on("trailers", (received) => void (said = { ...said, ...received }));
  if (message !== undefined) {
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.length, 1);
    stream.end(Buffer.concat([prefix, message]));
  }
  await once(stream.resume(), "end");
  const details = Buffer.from(String(said["grpc-status-details-bin"] ?? ""), "base64");
  const [any] = fromBinary(StatusSchema, details).details;
  const info = any && anyUnpack(any, ErrorInfoSchema);
  return { code: Number(said["grpc-status"]), reason: info?.reason };
}

const EMPTY = new Uint8Array(0);
const OK = { code: 0, reason: undefined };

test.each([
  [{ ":authority": "evil.example" }],
  [{ ":authority": "127.0.0.1.evil.example:7401" }],
  [{ ":authority": "127.0.0.1", host: "evil.example" }],
  [{ ":authority": "localhost.evil.example" }],
])("a call by the host %j is FORBIDDEN", async (headers) => {
  const session = await setup({ allowedHosts: ["scheduler.internal"] });
  const refused = { code: 7, reason: "FORBIDDEN" };
  expect(await call(session, { path: UNARY, headers, message: EMPTY })).toEqual(refused);
  expect(await call(session, { path: BIDI, headers, message: EMPTY })).toEqual(refused);
});

test.each(["127.0.0.1:7401", "localhost", "[::1]:1", "10.1.2.3:7401", "scheduler.internal:7401"])(
  "a call by the host %s is served",
  async (authority) => {
    const session = await setup({ allowedHosts: ["scheduler.internal"] });
    const headers = { ":authority": authority };
    expect(await call(session, { path: UNARY, headers, message: EMPTY })).toEqual(OK);
  },
);

test("a request that does not arrive, and a stream without its first message, are ended with DEADLINE_PASSED", async () => {
  const session = await setup({ requestMs: 100 });
  const late = { code: 4, reason: "DEADLINE_PASSED" };
  expect(await Promise.all([UNARY, BIDI].map((path) => call(session, { path })))).toEqual([
    late,
    late,
  ]);
});

test.each(["99999999H", "8760H", "596524H", "2147484S"])(
  "a deadline of %s is time enough for a call",
  async (timeout) => {
    const session = await setup();
    const headers = { "grpc-timeout": timeout };
    expect(await call(session, { path: UNARY, headers, message: EMPTY })).toEqual(OK);
    // The caller sends nothing, so the time for the first message ends the call, and not the deadline.
    const silent = await setup({ requestMs: 100 });
    const { reason } = await call(silent, { path: BIDI, headers });
    expect(reason).toBe("DEADLINE_PASSED");
  },
);

test("a message that does not parse is INPUT_INVALID, of a unary call and on a stream", async () => {
  const session = await setup();
  const refused = { code: 3, reason: "INPUT_INVALID" };
  for (const message of [Uint8Array.of(0xff, 0xff, 0xff), Uint8Array.of(0x0a, 0x02, 0xff, 0xfe)])
    for (const path of [UNARY, BIDI])
      expect(await call(session, { path, message })).toEqual(refused);
});
