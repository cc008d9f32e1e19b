import { expect, test } from "vitest";
import { LIMITS } from "../data/limits.ts";
import { defineHandler } from "./define.ts";
import { callOf } from "./call.fixture.ts";
import { Failed } from "./failure.ts";
import { result } from "./result.ts";
import type { Settled } from "./served.ts";
import { cleanText } from "./settle.ts";

const ran = async (run: () => unknown): Promise<Settled> =>
  await defineHandler({ type: "t", run }).invoke(callOf());
const causeOf = (ended: Settled) => ("failure" in ended ? ended.failure.cause : "none");
const outputOf = (ended: Settled) => ("result" in ended ? ended.result.outputJson : "");

const circular: Record<string, unknown> = {};
circular["self"] = circular;
const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));

const LIAR = {
  get output() {
    throw new Error("no");
  },
};

test.each<[name: string, value: unknown, cause: string]>([
  ["a handle that is too long", result(1, { handle: "x".repeat(200) }), "contract_violated"],
  ["a negative delay", result(1, { queueDelayMs: -1 }), "contract_violated"],
  ["an endless delay", result(1, { queueDelayMs: Infinity }), "contract_violated"],
  ["circular data", circular, "provider_error"],
  ["a big integer", 1n, "provider_error"],
  ["a getter that throws", LIAR, "provider_error"],
  ["data too deep", nested(100), "output_invalid"],
  ["data that no stack can walk", nested(100_000), "output_invalid"],
  ["a NUL character", "a\u0000", "output_invalid"],
  ["too much data", "x".repeat(LIMITS.valueBytes), "output_too_large"],
])("a handler that returns %s fails with a cause (S13)", async (_name, value, cause) => {
  expect(causeOf(await ran(() => value))).toBe(cause);
});

test("an output above the limit of the session names both sizes", async () => {
  const handler = defineHandler({ type: "t", run: () => "x".repeat(98) });
  expect(await handler.invoke({ ...callOf(), outputBytes: 100 })).toHaveProperty("result");
  const ended = await handler.invoke({ ...callOf(), outputBytes: 99 });
  expect(ended).toMatchObject({ failure: { cause: "output_too_large", permanent: true } });
  expect(JSON.stringify(ended)).toContain("100 bytes; at most 99");
});

test.each([
  [undefined, "the handler threw undefined"],
  [null, "the handler threw null"],
  ["text", "the handler threw text"],
  [Symbol("s"), "the handler threw Symbol(s)"],
  [new TypeError("bad"), "TypeError: bad"],
  [LIAR, "the handler threw an object"],
  [
    Object.defineProperty(new Error("x"), "message", {
      get() {
        throw new Error("y");
      },
    }),
    "the handler threw something that cannot be described",
  ],
])("whatever is thrown is a provider error with a message (S13, S1.29)", async (error, message) => {
  for (const run of [
    () => {
      throw error;
    },
    async () => {
      throw error;
    },
  ])
    expect(await ran(run)).toMatchObject({
      failure: { cause: "provider_error", message, permanent: false },
    });
});

test("a throw carries at most ten frames and no more of the process", async () => {
  const deep = (depth: number): unknown => {
    if (depth === 0) throw new Error("here");
    return deep(depth - 1);
  };
  const ended = await ran(() => deep(40));
  const details = "failure" in ended ? JSON.parse(ended.failure.detailsJson) : {};
  expect(Object.keys(details)).toEqual(["frames"]);
  expect(details.frames).toHaveLength(10);
});

test("a failure keeps its cause, permanence, wait and details; a cause that is no name is refused", async () => {
  const failing = (error: Failed) => () => {
    throw error;
  };
  const declined = new Failed("acme.declined", "no money", {
    permanent: true,
    retryAfterMs: 1_500.2,
    details: { a: "x\u0000" },
  });
  expect(await ran(failing(declined))).toEqual({
    failure: {
      cause: "acme.declined",
      message: "no money",
      permanent: true,
      retryAfterMs: 1_501,
      timeoutMs: 0,
      detailsJson: '{"a":"x\ufffd"}',
    },
  });
  expect(causeOf(await ran(failing(new Failed("a b", "?"))))).toBe("contract_violated");
  for (const retryAfterMs of [-1, Number.NaN, Infinity])
    expect(await ran(failing(new Failed("rate_limit", "", { retryAfterMs })))).toMatchObject({
      failure: { retryAfterMs: 0 },
    });
});

test("text for the log has no NUL and no half characters", () => {
  expect(cleanText("a\u0000b\ud800", 10)).toBe("a\ufffdb\ufffd");
  expect(cleanText("a👋", 2)).toBe("a\ufffd");
});

test("numbers beyond exact integers are kept as the doubles they are", async () => {
  const output = { power: 2 ** 70, far: 1e300, half: 0.5 };
  const text = outputOf(await ran(() => output));
  expect(text).toBe('{"power":1.1805916207174113e+21,"far":1e+300,"half":0.5}');
  expect(JSON.parse(text)).toEqual(output);
  expect(outputOf(await ran(() => 2 ** 60))).toBe("1.152921504606847e+18");
});
