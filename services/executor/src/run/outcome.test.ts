import { LIMITS } from "@pawl/core/data/limits";
import { expect, test } from "vitest";
import { causeOf, cleanText, failed, returned, thrown, type WireResult } from "./outcome.ts";

const outputOf = (result: WireResult): string =>
  result.case === "completed" ? Buffer.from(result.value.outputJson ?? []).toString() : "";

test("a failure by a limit of the handler's own names that limit", () => {
  const failure = { cause: "timeout", message: "late", permanent: false, timeoutMs: 50 };
  expect(returned({ failed: failure })).toMatchObject({ value: { timeoutMs: 50n } });
  expect(failed("timeout", "late")).toMatchObject({ value: { timeoutMs: 0n } });
});

test("a returned output becomes JSON, with its handle and delay", () => {
  const result = returned({ output: { a: [1, "ü"] }, handle: "yes", queueDelayMs: 5 });
  expect(outputOf(result)).toBe('{"a":[1,"ü"]}');
  expect(result).toMatchObject({ case: "completed", value: { handle: "yes", queueDelayMs: 5n } });
  expect(outputOf(returned({ output: undefined }))).toBe("null");
});

const circular: Record<string, unknown> = {};
circular["self"] = circular;
const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
const deep = nested(100);
const bottomless = nested(100_000);

test.each([
  ["undefined", undefined, "contract_violated"],
  ["a number", 5, "contract_violated"],
  ["no output", {}, "contract_violated"],
  ["a handle that is no text", { output: 1, handle: 5 }, "contract_violated"],
  ["a negative delay", { output: 1, queueDelayMs: -1 }, "contract_violated"],
  ["an endless delay", { output: 1, queueDelayMs: Infinity }, "contract_violated"],
  ["a failure without a cause", { failed: {} }, "contract_violated"],
  ["a failure that is none", { failed: null }, "contract_violated"],
  ["a cause that is no name", { failed: { cause: "a b" } }, "contract_violated"],
  ["circular data", { output: circular }, "provider_error"],
  ["a big integer", { output: 1n }, "provider_error"],
  [
    "a getter that throws",
    {
      get output() {
        throw new Error("no");
      },
    },
    "provider_error",
  ],
  [
    "a proxy that throws",
    new Proxy(
      {},
      {
        has: () => {
          throw new Error("no");
        },
      },
    ),
    "provider_error",
  ],
  ["data too deep", { output: deep }, "output_invalid"],
  ["data that no stack can walk", { output: bottomless }, "output_invalid"],
  ["a NUL character", { output: "a\u0000" }, "output_invalid"],
  ["too much data", { output: "x".repeat(LIMITS.valueBytes) }, "output_too_large"],
])("a handler that returns %s fails with a cause (S13)", (_name, value, cause) => {
  expect(causeOf(returned(value))).toBe(cause);
});

test.each([
  [undefined, "the handler threw undefined"],
  [null, "the handler threw null"],
  ["text", "the handler threw text"],
  [Symbol("s"), "the handler threw Symbol(s)"],
  [new TypeError("bad"), "TypeError: bad"],
  [
    {
      get message() {
        throw new Error("x");
      },
    },
    "the handler threw an object",
  ],
  [
    Object.defineProperty(new Error("x"), "message", {
      get() {
        throw new Error("y");
      },
    }),
    "the handler threw something that cannot be described",
  ],
])("whatever is thrown is a provider error with a message (S13, S1.29)", (error, message) => {
  expect(thrown(error)).toMatchObject({
    case: "failed",
    value: { cause: "provider_error", message, permanent: false },
  });
});

test("a failure keeps its cause, permanence and details", () => {
  const result = returned({
    failed: { cause: "rate_limit", message: "later", permanent: false, details: { a: "x\u0000" } },
  });
  expect(result).toMatchObject({
    case: "failed",
    value: { cause: "rate_limit", message: "later" },
  });
  const json =
    result.case === "failed" ? Buffer.from(result.value.detailsJson ?? []).toString() : "";
  expect(json).toBe('{"a":"x\ufffd"}');
});

test("a failure says when to ask again, and a success what a model counted (S1.58)", () => {
  const busy = { cause: "rate_limit", message: "later", permanent: false };
  const waitOf = (retryAfterMs: unknown) => {
    const result = returned({ failed: { ...busy, retryAfterMs } });
    return result.case === "failed" ? result.value.retryAfterMs : undefined;
  };
  expect(waitOf(1_500.2)).toBe(1_501n);
  for (const none of [undefined, -1, Number.NaN, Infinity, "5"]) expect(waitOf(none)).toBe(0n);
  expect(returned({ output: 1, usage: { inputTokens: 3, outputTokens: -1 } })).toMatchObject({
    value: { usage: { inputTokens: 3n, outputTokens: 0n } },
  });
});

test("details that cannot be stored are left out, and long messages are cut", () => {
  const result = failed("provider_error", "m".repeat(10_000), { details: circular });
  expect(result.case === "failed" && result.value.detailsJson).toBeUndefined();
  expect(result.case === "failed" && result.value.message?.length).toBe(2_000);
});

test("text for the log has no NUL and no half characters", () => {
  expect(cleanText("a\u0000b\ud800", 10)).toBe("a\ufffdb\ufffd");
  expect(cleanText("a👋", 2)).toBe("a\ufffd");
});

test("numbers beyond exact integers are kept as the doubles they are", () => {
  const output = { power: 2 ** 70, far: 1e300, half: 0.5 };
  const text = outputOf(returned({ output }));
  expect(text).toBe('{"power":1.1805916207174113e+21,"far":1e+300,"half":0.5}');
  expect(JSON.parse(text)).toEqual(output);
  expect(outputOf(returned({ output: 2 ** 60 }))).toBe("1.152921504606847e+18");
});
