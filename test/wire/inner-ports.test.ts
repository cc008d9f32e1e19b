// The port for clients, the gateway's, and the ports that no client calls: the scheduler's and the metrics'. Each refuses foreign and
// doubled hosts, names the error of a message that does not parse, and ends half-open requests (rows H18, H21, H22 and P).
import { once } from "node:events";
import http2 from "node:http2";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { LIMITS } from "@pawl/core/data/limits";
import { expect, onTestFinished, test } from "vitest";
import { rawCall } from "./raw-call.ts";
import { expectRefusal } from "./refusal.ts";
import { useStage } from "./stage.ts";

const stage = useStage();

const WORK = "pawl.worker.v1.WorkerService/Work";
const CARRY = "pawl.command.v1.CommandService/Carry";
const START = "pawl.v1.RunService/StartRun";
const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const schedulerPort = (): number => stage().cluster.schedulers[0]?.port ?? 0;
/** Every port that speaks HTTP/1.1: of each service's metrics, and the gateway's. */
const plainPorts = (): readonly number[] => [
  stage().cluster.schedulers[0]?.probePort ?? 0,
  stage().cluster.executors[0]?.port ?? 0,
  stage().port,
];

/** The first line of the answer to a request made by hand. */
async function statusLine(port: number, ...headers: readonly string[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  socket.write(["GET /metrics HTTP/1.1", ...headers, "Connection: close", "", ""].join("\r\n"));
  return (await text(socket)).split("\r\n")[0] ?? "";
}

test("H22: a foreign Host is refused on every port of metrics, and the names of this machine are not", async () => {
  for (const port of plainPorts()) {
    for (const host of ["evil.example", `127.0.0.1.evil.example:${port}`, "user@localhost"])
      expect([port, await statusLine(port, `Host: ${host}`)]).toEqual([
        port,
        "HTTP/1.1 403 Forbidden",
      ]);
    for (const host of ["localhost", `127.0.0.1:${port}`, "[::1]"])
      expect([port, await statusLine(port, `Host: ${host}`)]).toEqual([port, "HTTP/1.1 200 OK"]);
  }
});

test("H22: two Host headers are refused on every port, whichever of them is ours, and so is a Host beside another :authority", async () => {
  for (const port of plainPorts())
    for (const hosts of [
      ["Host: localhost", "Host: evil.example"],
      ["Host: evil.example", "host: localhost"],
      ["Host: localhost", "Host: localhost"],
    ])
      expect([port, await statusLine(port, ...hosts)]).toEqual([port, "HTTP/1.1 400 Bad Request"]);
  const headers = { ":authority": "localhost", host: "evil.example" };
  const body = encodeEnvelope(0, new Uint8Array(0));
  for (const [port, code, reason] of [
    [stage().port, "InvalidArgument", "INPUT_INVALID"],
    [schedulerPort(), "PermissionDenied", "FORBIDDEN"],
  ] as const) {
    const call = { framing: "gRPC", method: START, body, headers } as const;
    const { error } = await rawCall(`http://127.0.0.1:${port}`, call);
    if (error === undefined) throw new Error("the call was answered");
    expectRefusal(error, { code, reason });
  }
});

test("H22: a foreign :authority is FORBIDDEN by the scheduler, for clients, gateways and executors alike", async () => {
  await stage().unharmed(async () => {
    for (const method of [START, CARRY, WORK]) {
      const headers = { ":authority": "evil.example" };
      const body = encodeEnvelope(0, new Uint8Array(0));
      const url = `http://127.0.0.1:${schedulerPort()}`;
      const { error } = await rawCall(url, { framing: "gRPC", method, body, headers });
      if (error === undefined) throw new Error(`${method} was answered`);
      expectRefusal(error, { code: "PermissionDenied", reason: "FORBIDDEN" });
    }
  });
});

test("P1: a message that does not parse is INPUT_INVALID by the scheduler, for clients, gateways and executors alike", async () => {
  await stage().unharmed(async () => {
    for (const method of [START, CARRY, WORK])
      for (const message of [
        Uint8Array.of(0xff, 0xff, 0xff),
        Uint8Array.of(0x0a, 0x02, 0xff),
        Uint8Array.of(0x00, 0x01),
      ]) {
        const body = encodeEnvelope(0, message);
        const url = `http://127.0.0.1:${schedulerPort()}`;
        const { error } = await rawCall(url, { framing: "gRPC", method, body });
        if (error === undefined) throw new Error(`${method} was answered`);
        expectRefusal(error, { code: "InvalidArgument", reason: "INPUT_INVALID" });
      }
  });
});

test("P9: the scheduler reads gzip too, and unpacks no more than one message", async () => {
  await stage().unharmed(async () => {
    const bomb = encodeEnvelope(1, gzipSync(Buffer.alloc(LIMITS.messageBytes + 1)));
    const url = `http://127.0.0.1:${schedulerPort()}`;
    const headers = { "grpc-encoding": "gzip" };
    for (const method of [START, CARRY, WORK]) {
      const { error } = await rawCall(url, { framing: "gRPC", method, body: bomb, headers });
      expect([method, error?.code]).toEqual([method, 8]);
    }
  });
});

/** Opens a request over HTTP/2, sends nothing more, and gives the status with which the server ends it. */
async function halfOpen(port: number, path: string, type: string): Promise<string> {
  const session = http2.connect(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  const stream = session.request(
    { ":method": "POST", ":path": `/${path}`, "content-type": type, te: "trailers" },
    { endStream: false },
  );
  stream.on("error", () => undefined);
  let said = "";
  stream.on("response", (headers) => {
    said = String(headers["grpc-status"] ?? headers[":status"]);
  });
  stream.on("trailers", (headers) => {
    said = String(headers["grpc-status"]);
  });
  await once(stream.resume(), "end");
  return said;
}

test("H18: requests over HTTP/2 that are left half open are ended on every port, and so are connections with a preface and nothing else", async () => {
  const silent = [stage().port, schedulerPort()].map(async (port) => {
    const socket = connect(port, "127.0.0.1", () => void socket.write(PREFACE));
    socket.on("error", () => undefined);
    onTestFinished(() => void socket.destroy());
    await once(socket.resume(), "close");
  });
  const ended = [
    halfOpen(stage().port, "pawl.v1.EventService/WatchRun", "application/grpc"),
    halfOpen(stage().port, START, "application/grpc"),
    halfOpen(stage().port, "pawl.v1.EventService/WatchRun", "application/grpc-web+proto"),
    halfOpen(stage().port, START, "application/json"),
    halfOpen(
      stage().port,
      "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      "application/grpc",
    ),
    halfOpen(schedulerPort(), START, "application/grpc"),
    halfOpen(schedulerPort(), WORK, "application/grpc"),
    halfOpen(schedulerPort(), CARRY, "application/grpc"),
  ];
  expect(await Promise.all(ended)).toEqual(["4", "4", "4", "408", "4", "4", "4", "4"]);
  await Promise.all(silent);
});
