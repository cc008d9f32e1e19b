import { expect, test } from "vitest";
import { failureOf } from "./failure.ts";
import { isTimeout } from "./own-timeout.ts";

const coded = (code: string): Error => Object.assign(new Error("connect failed"), { code });

test.each([
  ["AbortSignal.timeout", new DOMException("too slow", "TimeoutError")],
  ["a library's TimeoutError", Object.assign(new Error("slow"), { name: "TimeoutError" })],
  ["a socket", coded("ETIMEDOUT")],
  ["fetch", new TypeError("fetch failed", { cause: coded("UND_ERR_CONNECT_TIMEOUT") })],
  ["a Connect client", Object.assign(new Error("slow"), { name: "ConnectError", code: 4 })],
  ["a gRPC client", Object.assign(new Error("slow"), { code: 4, details: "Deadline exceeded" })],
])("a limit of %s is a user_timeout, with its frames (S4.13)", (_what, error) => {
  const { failed } = failureOf(error, new AbortController().signal);
  expect(failed).toMatchObject({ cause: "user_timeout", permanent: false });
  expect(failed.message).toContain(error.message);
});

test("a throw after the signal is a cancellation, also of a limit that passed with it (S4.13)", () => {
  const over = AbortSignal.abort(new DOMException("timeout", "TimeoutError"));
  expect(failureOf(over.reason, over).failed.cause).toBe("cancelled");
});

test("any other throw is a provider_error, however hostile it is", () => {
  const circular = new Error("circle");
  circular.cause = circular;
  const hostile = new Error("hostile");
  Object.defineProperty(hostile, "code", { get: () => expect.fail("read") });
  for (const other of [circular, hostile, coded("ECONNRESET"), { name: "TimeoutError" }, null, "x"])
    expect(isTimeout(other)).toBe(false);
  expect(isTimeout(Object.assign(new Error("four"), { code: 4 }))).toBe(false);
});
