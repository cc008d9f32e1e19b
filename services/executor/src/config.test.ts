import { expect, test } from "vitest";
import { parseConfig } from "./config.ts";

test("an empty environment gives the defaults of one machine (S0.25)", () => {
  expect(parseConfig({})).toMatchObject({
    PAWL_SCHEDULER_ADDRESS: "127.0.0.1:7401",
    PAWL_EXECUTOR_SLOTS: 256,
    PAWL_EXECUTOR_GRACE_MS: 30_000,
    PAWL_METRICS_PORT: 7402,
    PAWL_HANDLER_HOST: "127.0.0.1",
    PAWL_HANDLER_PORT: 7404,
    PAWL_HANDLER_SILENCE_MS: 15_000,
    PAWL_HANDLER_RESUME_MS: 3_000,
    PAWL_ALLOW_PRIVATE_EGRESS: "",
  });
});

test.each([
  { PAWL_EXECUTOR_SLOTS: "0" },
  { PAWL_ALLOW_PRIVATE_EGRESS: "everything" },
  { PAWL_EXECUTOR_ID: "me" },
  { PAWL_EXECUTOR_SLOT: "5" },
  { PAWL_HANDLER_TOKEN: "short" },
  { PAWL_HANDLER_SILENCE_MS: "100" },
  { PAWL_HANDLER_RESUME_MS: "3s" },
])("a wrong variable is named and refused", (env) => {
  expect(() => parseConfig(env)).toThrow(Object.keys(env)[0]);
});

test("a handler port that other machines reach needs a token", () => {
  expect(() => parseConfig({ PAWL_HANDLER_HOST: "0.0.0.0" })).toThrow(
    "PAWL_HANDLER_TOKEN: is required, because PAWL_HANDLER_HOST=0.0.0.0 is not loopback",
  );
  const token = { PAWL_HANDLER_TOKEN: "a-token-of-the-tests" };
  expect(parseConfig({ PAWL_HANDLER_HOST: "0.0.0.0", ...token }).PAWL_HANDLER_HOST).toBe("0.0.0.0");
  for (const PAWL_HANDLER_HOST of ["127.0.0.1", "127.1.2.3", "localhost", "::1"])
    expect(parseConfig({ PAWL_HANDLER_HOST })).toMatchObject({ PAWL_HANDLER_HOST });
});
