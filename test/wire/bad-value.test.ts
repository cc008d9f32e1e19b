// The users' JSON and the numbers of requests. The gateway refuses harmful values with their rule and field, through every client (rows J
// of the catalogue of bad inputs).
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ValueSchema } from "@bufbuild/protobuf/wkt";
import { LIMITS } from "@pawl/core/data/limits";
import { expect, test } from "vitest";
import { GRAPH, KNOWN, saveKnown } from "./known-workflow.ts";
import { framed, rawCall } from "./raw-call.ts";
import { expectRefusal, expectRefused, invalidField, type Refusal } from "./refusal.ts";
import { useStage } from "./stage.ts";

const stage = useStage(undefined, saveKnown);

const TOO_MUCH: Refusal = { code: "ResourceExhausted", reason: "LIMIT_EXCEEDED" };
const MALFORMED: Refusal = { code: "InvalidArgument", reason: "INPUT_INVALID" };

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
const keys = (count: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 0])));
const long = "x".repeat(10_000);

const TEXTS: readonly (readonly [
  row: string,
  what: string,
  json: string | Buffer,
  rule: string,
])[] = [
  ["J2", "one level too deep", nested(LIMITS.jsonDepth + 1), "JSON_TOO_DEEP"],
  ["J2", "ten thousand levels deep", nested(10_000), "JSON_TOO_DEEP"],
  ["J2", "deep and never closed", "[".repeat(100_000), "JSON_TOO_DEEP"],
  ["J4", "the key __proto__", '{"__proto__":{"a":1}}', "RESERVED_KEY"],
  ["J4", "the key __proto__ in escapes", '{"\\u005f_proto__":1}', "RESERVED_KEY"],
  ["J4", "the path constructor.prototype", '{"constructor":{"prototype":1}}', "RESERVED_KEY"],
  ["J5", "a key twice", '{"a":1,"a":2}', "JSON_DUPLICATE_KEY"],
  ["J5", "a key twice, once in escapes", '{"a":1,"\\u0061":2}', "JSON_DUPLICATE_KEY"],
  ["J7", "a number too large for a double", "1e400", "NUMBER_RANGE"],
  ["J7", "a number too small for a double", "1e-400", "NUMBER_RANGE"],
  ["J7", "the word NaN", "NaN", "JSON_SYNTAX"],
  ["J8", "an integer that would be rounded", "9007199254740993", "NUMBER_PRECISION"],
  ["J10", "too many keys", keys(LIMITS.jsonKeys + 1), "TOO_MANY_KEYS"],
  ["J11", "a key of 10 KB", `{"${long}":1}`, "KEY_TOO_LONG"],
  ["J13", "half a surrogate pair", '"\\ud800"', "BAD_UNICODE"],
  ["J13", "bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0xfe, 0x22]), "BAD_UNICODE"],
  ["J14", "a NUL character", '"a\\u0000b"', "NUL_CHARACTER"],
  ["J14", "a NUL character in a key", '{"a\\u0000b":1}', "NUL_CHARACTER"],
  ["J15", "no JSON at all", `{'${long}'}`, "JSON_SYNTAX"],
  ["J15", "two values", "1 2", "JSON_SYNTAX"],
  ["J15", "a byte order mark", "\ufeff{}", "JSON_SYNTAX"],
];

test.each(TEXTS)("%s: an input with %s is refused by every client", async (_, what, json, rule) => {
  const inputJson = new Uint8Array(Buffer.from(json));
  await stage().unharmed(async () => {
    for (const { runs } of stage().doors) {
      const refusal = invalidField("input_json", rule);
      await expectRefused(runs.startRun({ workflowId: KNOWN, inputJson }), refusal, String(json));
      const graph = runs.testRun({ definition: { text: GRAPH }, inputJson });
      await expectRefused(graph, refusal, String(json));
    }
  });
  expect(what).not.toBe("");
});

test("J18: an input of one byte too many is LIMIT_EXCEEDED, and one that fits is taken and run", async () => {
  const input = (bytes: number): Uint8Array => Buffer.from(JSON.stringify("x".repeat(bytes - 2)));
  await stage().unharmed(async () => {
    for (const { runs } of stage().doors) {
      const inputJson = input(LIMITS.startInputBytes + 1);
      await expectRefused(runs.startRun({ workflowId: KNOWN, inputJson }), TOO_MUCH);
    }
  });
  const { runs, events } = stage().door("gRPC-web");
  // The start node hands the input on inside of an object, which has to fit as well.
  const inputJson = input(LIMITS.startInputBytes);
  const runId = (await runs.startRun({ workflowId: KNOWN, inputJson })).run?.runId ?? "";
  let last = "";
  for await (const { events: batch } of events.watchRun({ runId })) last = batch.at(-1)?.type ?? "";
  expect(last).toBe("run.completed");
});

type Value = MessageInitShape<typeof ValueSchema>;
const number = (value: number): Value => ({ kind: { case: "numberValue", value } });
const string = (value: string): Value => ({ kind: { case: "stringValue", value } });
const deepValue = (depth: number): Value =>
  Array.from({ length: depth }).reduce<Value>(
    (value) => ({ kind: { case: "listValue", value: { values: [value] } } }),
    string("x"),
  );

test.each<readonly [row: string, what: string, input: Value, refusal: Refusal]>([
  ["J7", "NaN", number(Number.NaN), invalidField("input", "NUMBER_RANGE")],
  ["J7", "Infinity", number(Number.POSITIVE_INFINITY), invalidField("input", "NUMBER_RANGE")],
  ["J7", "no kind", {}, invalidField("input", "NUMBER_RANGE")],
  ["J8", "a number beyond 2^53", number(2 ** 53 + 2), invalidField("input", "NUMBER_PRECISION")],
  ["J14", "a NUL character", string("a\0b"), invalidField("input", "NUL_CHARACTER")],
  ["J1", "sixty lists inside one another", deepValue(60), MALFORMED],
])("%s: a Value with %s is refused by every binary client", async (_, what, input, refusal) => {
  await stage().unharmed(async () => {
    for (const { name, runs } of stage().doors) {
      // The client itself refuses to write such a value in JSON.
      if (name === "Connect JSON") continue;
      await expectRefused(runs.startRun({ workflowId: KNOWN, input }), refusal);
    }
  });
  expect(what).not.toBe("");
});

test.each<readonly [row: string, what: string, input: string, refusal: Refusal]>([
  ["J1", "ten thousand lists inside one another", nested(10_000), MALFORMED],
  ["J4", "the key __proto__", '{"__proto__":{"polluted":true}}', MALFORMED],
  [
    "J4",
    "constructor.prototype",
    '{"constructor":{"prototype":1}}',
    invalidField("input", "RESERVED_KEY"),
  ],
  ["J5", "a key twice", '{"a":1,"a":2}', MALFORMED],
  ["J7", "a number too large for a double", "1e400", MALFORMED],
  [
    "J8",
    "an integer that would be rounded",
    "9007199254740993",
    invalidField("input", "NUMBER_PRECISION"),
  ],
  ["J13", "half a surrogate pair", '"\\ud800"', MALFORMED],
  ["J14", "a NUL character", '"a\\u0000b"', invalidField("input", "NUL_CHARACTER")],
])("%s: an input written by hand with %s is refused", async (_, what, input, refusal) => {
  const body = framed("Connect JSON", Buffer.from(`{"workflowId":"${KNOWN}","input":${input}}`));
  await stage().unharmed(async () => {
    const method = "pawl.v1.RunService/StartRun";
    const { status, error } = await rawCall(stage().url, { framing: "Connect JSON", method, body });
    if (error === undefined) throw new Error(`${what} was taken`);
    expectRefusal(error, refusal, input);
    expect(status).toBe(400);
  });
});

test.each([
  ["no time at all", { seconds: 0n, nanos: 0 }],
  ["less than a millisecond", { seconds: 0n, nanos: 999_999 }],
  ["less than nothing", { seconds: -1n, nanos: 0 }],
  ["a second and less than nothing", { seconds: 1n, nanos: -1 }],
  ["two seconds in nanoseconds", { seconds: 0n, nanos: 2_000_000_000 }],
  ["thirty days and a nanosecond", { seconds: 2_592_000n, nanos: 1 }],
  ["more seconds than there are", { seconds: 2n ** 63n - 1n, nanos: 0 }],
])("J17: a deadline of %s is refused", async (_, deadline) => {
  await stage().unharmed(async () => {
    for (const { name, runs } of stage().doors) {
      // JSON cannot express every such duration.
      if (name === "Connect JSON") continue;
      const call = runs.startRun({ workflowId: KNOWN, deadline });
      await expectRefused(call, invalidField("deadline", "OUT_OF_RANGE"));
    }
  });
});

test("J17: a duration of 1e20 seconds is refused in JSON", async () => {
  await stage().unharmed(async () => {
    for (const deadline of ["1e20s", "100000000000000000000s", "-1s", "soon"]) {
      const text = JSON.stringify({ workflowId: KNOWN, deadline });
      const method = "pawl.v1.RunService/StartRun";
      const call = { framing: "Connect JSON", method, body: Buffer.from(text) } as const;
      const { error } = await rawCall(stage().url, call);
      if (error === undefined) throw new Error(`${deadline} was taken`);
      expectRefusal(error, MALFORMED);
    }
  });
});

test("J9: numbers of requests are held to their bounds, however large the wire allows them", async () => {
  const definition = { text: GRAPH };
  const most = 2 ** 32 - 1;
  const unknown: Refusal = { code: "NotFound", reason: "WORKFLOW_NOT_FOUND" };
  await stage().unharmed(async () => {
    for (const { runs, workflows } of stage().doors) {
      for (const priority of [LIMITS.priorityMax + 1, -LIMITS.priorityMax - 1, 2 ** 31 - 1])
        await expectRefused(
          runs.startRun({ workflowId: KNOWN, priority }),
          invalidField("priority", "OUT_OF_RANGE"),
        );
      await expectRefused(runs.startRun({ workflowId: KNOWN, version: most }), unknown);
      await expectRefused(workflows.getWorkflow({ workflowId: KNOWN, version: most }), unknown);
      await expectRefused(
        workflows.updateWorkflow({ workflowId: KNOWN, definition, expectedVersion: most }),
        { code: "Aborted", reason: "VERSION_MISMATCH" },
      );
    }
  });
});

test("J13, J15: a body of JSON whose input is not UTF-8, or that begins with a byte order mark, starts no run in any protocol of JSON", async () => {
  const asText = (input: Uint8Array | string): Uint8Array =>
    Buffer.concat([
      Buffer.from(`{"start":{"workflowId":"${KNOWN}","input":"`),
      Buffer.from(input),
      Buffer.from('"}}'),
    ]);
  const alone = (body: Uint8Array): Uint8Array =>
    body.subarray('{"start":'.length, body.length - 1);
  const bodies = [asText(Uint8Array.of(0xff)), asText(Uint8Array.of(0xc3, 0x28)), asText("ok")];
  await stage().unharmed(async () => {
    for (const [index, whole] of bodies.entries()) {
      const mark = Buffer.from(index === 2 ? "\ufeff" : "");
      for (const [framing, method, body] of [
        ["Connect JSON", "StartRun", alone(whole)],
        ["Connect JSON stream", "ExecuteRun", whole],
      ] as const) {
        const call = { framing, method: `pawl.v1.RunService/${method}` };
        const message = framed(framing, Buffer.concat([mark, body]));
        const { error } = await rawCall(stage().url, { ...call, body: message });
        if (error === undefined) throw new Error(`${method} took body ${index}`);
        expectRefusal(error, { code: "InvalidArgument", reason: "INPUT_INVALID" });
      }
    }
  });
});
