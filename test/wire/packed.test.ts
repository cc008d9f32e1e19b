// Compressed requests, and deadlines that are too long for any call. Every protocol takes both, within bounds (rows P9, P10, P16).
import { gzipSync } from "node:zlib";
import { createClient } from "@connectrpc/connect";
import {
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { LIMITS } from "@pawl/core/data/limits";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { drain, finishedRun, KNOWN, saveKnown } from "./known-workflow.ts";
import { type Framing, framed, isEnveloped, type RawCall, rawCall } from "./raw-call.ts";
import { expectRefusal, type Refusal } from "./refusal.ts";
import { useStage } from "./stage.ts";

const stage = useStage(undefined, saveKnown);

const UNARY = "pawl.v1.RunService/ListRuns";
const STREAM = "pawl.v1.EventService/WatchRun";
const ENTRANCES: readonly (readonly [Framing, string])[] = [
  ["gRPC", UNARY],
  ["gRPC", STREAM],
  ["gRPC-web", UNARY],
  ["gRPC-web", STREAM],
  ["Connect", UNARY],
  ["Connect stream", STREAM],
];
const MALFORMED: Refusal = { code: "InvalidArgument", reason: "INPUT_INVALID" };
const TOO_LARGE: Refusal = { code: "ResourceExhausted", reason: "LIMIT_EXCEEDED" };

const ENCODING = {
  gRPC: "grpc-encoding",
  web: "grpc-encoding",
  unary: "content-encoding",
} as const;

function packed(framing: Framing, method: string, bytes: Uint8Array, encoding = "gzip"): RawCall {
  const stream = isEnveloped(framing) ? "connect-content-encoding" : ENCODING.unary;
  const header = framing.startsWith("gRPC") ? ENCODING.gRPC : stream;
  const body = isEnveloped(framing) ? encodeEnvelope(1, bytes) : bytes;
  return { framing, method, body, headers: { [header]: encoding } };
}

test("P9: clients that pack their requests are served over every transport", async () => {
  const baseUrl = stage().url;
  const options = { baseUrl, sendCompression: compressionGzip, compressMinBytes: 0 };
  for (const transport of [
    createGrpcTransport(options),
    createGrpcWebTransport({ ...options, httpVersion: "1.1" }),
    createConnectTransport({ ...options, httpVersion: "2" }),
    createConnectTransport({ ...options, httpVersion: "1.1", useBinaryFormat: false }),
  ]) {
    const runs = createClient(RunService, transport);
    const { run } = await runs.startRun({ workflowId: KNOWN });
    expect(run?.workflowId).toBe(KNOWN);
    await drain(runs.executeRun({ start: { workflowId: KNOWN } }));
  }
});

test("P9: a JSON body that curl packed is read", async () => {
  const response = await fetch(`${stage().url}/${UNARY}`, {
    method: "POST",
    headers: { "content-type": "application/json", "content-encoding": "gzip" },
    body: gzipSync("{}"),
  });
  expect([response.status, response.headers.get("content-encoding")]).toEqual([200, null]);
});

test("P9: a message that unpacks to a gigabyte, or to one byte too many, is refused before it is unpacked", async () => {
  // A gigabyte of zeros in one megabyte, made of many members.
  const part = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const bomb = Buffer.concat(Array.from({ length: 16 }, () => part));
  const over = gzipSync(Buffer.alloc(LIMITS.messageBytes + 1));
  await stage().unharmed(async () => {
    for (const [framing, method] of ENTRANCES)
      for (const bytes of [bomb, over]) {
        const before = process.hrtime.bigint();
        const { error } = await rawCall(stage().url, packed(framing, method, bytes));
        if (error === undefined) throw new Error(`${framing} ${method} was answered`);
        expectRefusal(error, TOO_LARGE);
        expect(Number(process.hrtime.bigint() - before) / 1e9).toBeLessThan(5);
      }
  });
});

test("P9: bytes that are no gzip, or are cut short, are refused as malformed", async () => {
  const whole = gzipSync(Buffer.alloc(1_000, "x"));
  await stage().unharmed(async () => {
    for (const [framing, method] of ENTRANCES)
      for (const bytes of [Buffer.from("no gzip"), whole.subarray(0, whole.length - 4)]) {
        const { error } = await rawCall(stage().url, packed(framing, method, bytes));
        if (error === undefined) throw new Error(`${framing} ${method} was answered`);
        expectRefusal(error, MALFORMED);
      }
  });
});

test("P10: an unknown encoding is refused with the list of known ones", async () => {
  const response = await fetch(`${stage().url}/${UNARY}`, {
    method: "POST",
    headers: { "content-type": "application/json", "content-encoding": "br" },
    body: "{}",
  });
  expect([response.status, response.headers.get("accept-encoding")]).toEqual([501, "gzip"]);
  expect(await response.text()).toContain("UNSUPPORTED_ENCODING");
});

const TIMEOUTS = [
  ["gRPC", "grpc-timeout", "99999999H"],
  ["gRPC-web", "grpc-timeout", "99999999H"],
  ["gRPC", "grpc-timeout", "2147484S"],
  ["gRPC-web", "grpc-timeout", "2147484S"],
  ["Connect", "connect-timeout-ms", "9999999999"],
  ["Connect", "connect-timeout-ms", "2147483648"],
  ["Connect stream", "connect-timeout-ms", "9999999999"],
] as const;

test.each(TIMEOUTS)(
  "P16: over %s a %s of %s is time enough for any call, and none is late at once",
  async (framing, header, value) => {
    const { runId } = await finishedRun(stage());
    const headers = { [header]: value };
    const message = Buffer.concat([Buffer.from([0x0a, runId.length]), Buffer.from(runId)]);
    const calls: RawCall[] =
      framing === "Connect stream"
        ? []
        : [{ framing, method: UNARY, body: framed(framing, new Uint8Array(0)), headers }];
    if (framing !== "Connect")
      calls.push({ framing, method: STREAM, body: framed(framing, message), headers });
    for (const call of calls) {
      const { error } = await rawCall(stage().url, call);
      expect([call.method, error]).toEqual([call.method, undefined]);
    }
  },
);
