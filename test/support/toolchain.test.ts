import { afterEach, expect, test, vi } from "vitest";
import { mustNotSkip, skipWithout } from "./toolchain.ts";

afterEach(() => void vi.unstubAllEnvs());

/** A test context whose `skip` throws, as the one of vitest does. */
const context = {
  skip: (why?: unknown): never => {
    throw new Error(`skipped: ${String(why)}`);
  },
};

test("outside of CI a test without its toolchain is skipped with the reason", () => {
  vi.stubEnv("CI", "");
  expect(() => skipWithout(context, "Go is missing")).toThrow("skipped: Go is missing");
});

test("in CI a test without its toolchain fails with the reason", () => {
  vi.stubEnv("CI", "true");
  expect(() => skipWithout(context, "Go is missing")).toThrow("CI skips no test: Go is missing");
  vi.stubEnv("CI", "false");
  expect(mustNotSkip()).toBe(false);
});
