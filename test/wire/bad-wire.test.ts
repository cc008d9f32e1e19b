// Bytes that no client would send, in every protocol. The gateway answers each with a typed error before it can cost anything, and no
// process crashes (rows P of the catalogue of bad inputs).
import { toBinary } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { LIMITS } from "@pawl/core/data/limits";
import { expect, test } from "vitest";
import { type Framing, framed, isEnveloped, type RawCall, rawCall } from "./raw-call.ts";
import { expectRefusal, type Refusal } from "./refusal.ts";
import { useStage } from "./stage.ts";

const stage = useStage();

const UNARY = "pawl.v1.RunService/ListRuns";
const STREAM = "pawl.v1.EventService/WatchRun";
/** Every framing of binary messages, each with the methods it can call. */
const ENTRANCES: readonly (readonly [Framing, string])[] = [
  ["gRPC", UNARY],
  ["gRPC", STREAM],
  ["gRPC-web", UNARY],
  ["gRPC-web", STREAM],
  ["Connect", UNARY],
  ["Connect stream", STREAM],
];

const MALFORMED = { code: "InvalidArgument", reason: "INPUT_INVALID" } as const;
const TOO_LARGE = { code: "ResourceExhausted", reason: "LIMIT_EXCEEDED" } as const;
const UNKNOWN = { code: "Unimplemented", reason: "UNKNOWN_METHOD" } as const;
const UNSUPPORTED = { code: "Unimplemented", reason: "UNSUPPORTED_ENCODING" } as const;

type Row = {
  readonly row: string;
  readonly what: string;
  readonly refusal: Refusal;
  /** The message, framed as its entrance wants it; or the whole body, envelopes included. */
  readonly message?: Uint8Array;
  readonly body?: Uint8Array;
  readonly method?: string;
  readonly unfinished?: boolean;
  /** The framing's own word for a setting that has none in common. */
  readonly header?: readonly [setting: "encoding" | "timeout", value: string];
};

const EMPTY = new Uint8Array(0);
const bytes = (...list: readonly number[]): Uint8Array => Uint8Array.from(list);
const repeated = (count: number, ...list: readonly number[]): Uint8Array =>
  Buffer.alloc(count * list.length, Buffer.from(list));

const ROWS: readonly Row[] = [
  { row: "P1", what: "a truncated varint", message: bytes(0xff, 0xff, 0xff), refusal: MALFORMED },
  {
    row: "P2",
    what: "a field that claims two gigabytes",
    message: bytes(0x2a, 0xff, 0xff, 0xff, 0xff, 0x07),
    refusal: MALFORMED,
  },
  {
    row: "P4",
    what: "twenty thousand groups inside one another",
    message: repeated(20_000, 0x7b),
    refusal: MALFORMED,
  },
  { row: "P5", what: "field number 0", message: bytes(0x00, 0x01), refusal: MALFORMED },
  { row: "P5", what: "wire type 6", message: bytes(0x0e, 0x01), refusal: MALFORMED },
  {
    row: "P6",
    what: "a string that is not UTF-8",
    message: bytes(0x0a, 0x02, 0xff, 0xfe),
    refusal: MALFORMED,
  },
  {
    row: "P7",
    what: "an envelope of 4 GiB that never comes",
    body: bytes(0, 0xff, 0xff, 0xff, 0xff),
    unfinished: true,
    refusal: TOO_LARGE,
  },
  {
    row: "P7",
    what: "an envelope of one byte too many that never comes",
    body: bytes(0, 0x00, 0x40, 0x00, 0x01),
    unfinished: true,
    refusal: TOO_LARGE,
  },
  {
    row: "P8",
    what: "a message of one byte too many",
    message: new Uint8Array(LIMITS.messageBytes + 1),
    refusal: TOO_LARGE,
  },
  {
    row: "P10",
    what: "a compression we do not speak",
    message: bytes(1, 2, 3),
    header: ["encoding", "zstd"],
    refusal: UNSUPPORTED,
  },
  {
    row: "P11",
    what: "a compressed message without a compression",
    body: encodeEnvelope(1, bytes(1, 2)),
    refusal: MALFORMED,
  },
  {
    row: "P13",
    what: "a method that is not there",
    message: EMPTY,
    method: "pawl.v1.RunService/Explode",
    refusal: UNKNOWN,
  },
  {
    row: "P13",
    what: "a service that is not there",
    message: EMPTY,
    method: "pawl.worker.v1.WorkerService/Work",
    refusal: UNKNOWN,
  },
  {
    row: "P14",
    what: "two messages where one belongs",
    body: Buffer.concat([encodeEnvelope(0, EMPTY), encodeEnvelope(0, EMPTY)]),
    refusal: UNKNOWN,
  },
  { row: "P14", what: "no message where one belongs", body: EMPTY, refusal: UNKNOWN },
  ...["-1S", "soon", "99999999999H"].map((value) => ({
    row: "P16",
    what: `a timeout of ${value}`,
    message: EMPTY,
    header: ["timeout", value] as const,
    refusal: MALFORMED,
  })),
  { row: "P17", what: "half an envelope", body: bytes(0, 0, 0, 0, 9, 1), refusal: MALFORMED },
  { row: "P17", what: "half a length", body: bytes(0, 0), refusal: MALFORMED },
];

const SETTINGS = {
  encoding: {
    gRPC: "grpc-encoding",
    Connect: "content-encoding",
    stream: "connect-content-encoding",
  },
  timeout: { gRPC: "grpc-timeout", Connect: "connect-timeout-ms", stream: "connect-timeout-ms" },
} as const;

function callOf(row: Row, framing: Framing, method: string): RawCall {
  const family = framing.startsWith("gRPC") ? "gRPC" : isEnveloped(framing) ? "stream" : "Connect";
  return {
    framing,
    method: row.method ?? method,
    body: row.body ?? framed(framing, row.message ?? EMPTY),
    unfinished: row.unfinished ?? false,
    headers: row.header === undefined ? {} : { [SETTINGS[row.header[0]][family]]: row.header[1] },
  };
}

test.each(ROWS)("$row: $what is refused with $refusal.reason in every protocol", async (row) => {
  await stage().unharmed(async () => {
    for (const [framing, method] of ENTRANCES) {
      if (row.body !== undefined && !isEnveloped(framing)) continue;
      const { error } = await rawCall(stage().url, callOf(row, framing, method));
      expect(error, `${framing} ${method}`).toBeDefined();
      if (error !== undefined) expectRefusal(error, row.refusal);
    }
  });
});

test("P19: a million unknown fields are skipped and not kept; the known ones still count", async () => {
  await stage().unharmed(async () => {
    const unknown = repeated(1_000_000, 0x78, 0x01);
    // page_size of -1, behind all of them.
    const negative = bytes(0x20, ...repeated(9, 0xff), 0x01);
    for (const framing of ["gRPC", "gRPC-web", "Connect"] as const) {
      const body = framed(framing, Buffer.concat([unknown, negative]));
      const { error } = await rawCall(stage().url, { framing, method: UNARY, body });
      if (error === undefined) throw new Error("the call was answered");
      expectRefusal(error, { ...MALFORMED, field: ["page_size", "OUT_OF_RANGE"] });
    }
  });
});

test("P20: of repeated members of a oneof the last wins, and it is the one that is checked", async () => {
  const nan = toBinary(ValueSchema, {
    $typeName: "google.protobuf.Value",
    kind: { case: "numberValue", value: Number.NaN },
  });
  const text = toBinary(ValueSchema, {
    $typeName: "google.protobuf.Value",
    kind: { case: "stringValue", value: "x" },
  });
  const start = async (first: Uint8Array, last: Uint8Array) => {
    const value = Buffer.concat([first, last]);
    const message = Buffer.concat([Buffer.from("\n\x04none"), bytes(0x22, value.length), value]);
    const body = framed("gRPC", message);
    const method = "pawl.v1.RunService/StartRun";
    const { error } = await rawCall(stage().url, { framing: "gRPC", method, body });
    if (error === undefined) throw new Error("the call was answered");
    return error;
  };
  await stage().unharmed(async () => {
    expectRefusal(await start(text, nan), { ...MALFORMED, field: ["input", "NUMBER_RANGE"] });
    expectRefusal(await start(nan, text), { code: "NotFound", reason: "WORKFLOW_NOT_FOUND" });
  });
});

test.each([
  ["nothing at all", ""],
  ["half an object", "{"],
  [
    "bytes that are not UTF-8 (J13)",
    Buffer.from([...Buffer.from('{"pageToken":"'), 0xff, 0x22, 0x7d]),
  ],
  ["half a character at its end (J13)", Buffer.from([...Buffer.from("{}"), 0xc3])],
  ["a byte order mark (J15)", "\ufeff{}"],
  ["a list", "[]"],
  ["a number out of range", '{"pageSize":1e99}'],
  ["a number that is none", '{"pageSize":"NaN"}'],
  ["a field that is not there", `{"${"x".repeat(5_000)}":1}`],
  ["a field given twice (J5)", '{"pageSize":1,"pageSize":2}'],
  ["a field given by both its names (J5)", '{"pageSize":1,"page_size":2}'],
  ["a word that is not in the enum", `{"kind":"${"RUN_KIND_".repeat(1_000)}"}`],
  ["half a surrogate pair (J13)", '{"pageToken":"\\ud800"}'],
  ["ten thousand lists inside one another (J1)", "[".repeat(10_000) + "]".repeat(10_000)],
])(
  "J: a body of JSON with %s is INPUT_INVALID in Connect, unary and streaming",
  async (_, json) => {
    await stage().unharmed(async () => {
      for (const [framing, method] of [
        ["Connect JSON", UNARY],
        ["Connect JSON stream", STREAM],
      ] as const) {
        const body = framed(framing, Buffer.from(json));
        const { error } = await rawCall(stage().url, { framing, method, body });
        if (error === undefined) throw new Error("the call was answered");
        expectRefusal(error, MALFORMED, String(json));
      }
    });
  },
);
