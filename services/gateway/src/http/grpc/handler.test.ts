import http2, { type ClientHttp2Session } from "node:http2";
import { buffer } from "node:stream/consumers";
import { create, toBinary } from "@bufbuild/protobuf";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { ErrorInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import { GetRunRequestSchema } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, onTestFinished, test } from "vitest";
import { type GatewayFixture, startGateway } from "../../gateway.fixture.ts";

function session(gateway: GatewayFixture): ClientHttp2Session {
  const open = http2.connect(gateway.url);
  open.on("error", () => undefined);
  onTestFinished(() => open.destroy());
  return open;
}

/** Sends raw bytes as a gRPC call and returns how it ended. */
async function call(
  client: ClientHttp2Session,
  path: string,
  body: Buffer,
  headers: Readonly<Record<string, string>> = {},
) {
  const stream = client.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  let last: Record<string, unknown> = {};
  stream.on("response", (received) => (last = { ...last, ...received }));
  stream.on("trailers", (received) => (last = { ...last, ...received }));
  stream.end(body);
  const bytes = await buffer(stream);
  const error = findTrailerError(
    new Headers(
      Object.entries(last).flatMap(([key, value]) =>
        key.startsWith("grpc") ? [[key, String(value)]] : [],
      ),
    ),
  );
  return {
    status: Number(last["grpc-status"]),
    reason: error?.findDetails(ErrorInfoSchema)[0]?.reason,
    bytes: bytes.length,
  };
}

const frame = (message: Uint8Array, flags = 0, length = message.length): Buffer => {
  const prefix = Buffer.from([flags, 0, 0, 0, 0]);
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, message]);
};
const GET = "/pawl.v1.RunService/GetRun";
const WATCH = "/pawl.v1.EventService/WatchRun";

test("bodies that are not one message are refused as gRPC does, with a reason (P1-P17)", async () => {
  const gateway = await startGateway();
  const client = session(gateway);
  const run = await gateway.addRun();
  const good = frame(toBinary(GetRunRequestSchema, create(GetRunRequestSchema, { runId: run })));
  expect(await call(client, GET, good)).toMatchObject({ status: 0 });
  const bad: readonly (readonly [Buffer, number, string])[] = [
    [frame(Buffer.from("ffffff", "hex")), 3, "INPUT_INVALID"],
    [frame(Buffer.from([0x0e])), 3, "INPUT_INVALID"],
    [frame(Buffer.alloc(0), 0, 0x7fffffff), 8, "LIMIT_EXCEEDED"],
    [frame(Buffer.alloc(4 * 1024 * 1024 + 1)), 8, "LIMIT_EXCEEDED"],
    [frame(Buffer.alloc(3), 0, 9), 3, "INPUT_INVALID"],
    [Buffer.from([0, 0]), 3, "INPUT_INVALID"],
    [Buffer.concat([good, good]), 12, "UNKNOWN_METHOD"],
    [frame(Buffer.alloc(3), 1), 3, "INPUT_INVALID"],
  ];
  for (const [body, status, reason] of bad) {
    expect(await call(client, GET, body)).toMatchObject({ status, reason });
  }
  expect(await call(client, GET, good, { "grpc-encoding": "zstd" })).toMatchObject({ status: 12 });
  expect(await call(client, GET, good, { "grpc-timeout": "-1S" })).toMatchObject({ status: 3 });
  expect(await call(client, "/pawl.v1.RunService/Nope", good)).toMatchObject({ status: 12 });
});

test("a stream past its deadline ends with DEADLINE_EXCEEDED after its messages", async () => {
  const gateway = await startGateway();
  const run = await gateway.addRun();
  const body = frame(toBinary(GetRunRequestSchema, create(GetRunRequestSchema, { runId: run })));
  const ended = await call(session(gateway), WATCH, body, { "grpc-timeout": "1500m" });
  expect(ended).toMatchObject({ status: 4, reason: "DEADLINE_PASSED" });
  expect(ended.bytes).toBeGreaterThan(0);
});
