import { expect, test } from "vitest";
import { parseConfig } from "./config.ts";

test("an empty environment gives the defaults of one machine (S0.25)", () => {
  expect(parseConfig({})).toMatchObject({
    PAWL_SCHEDULER_ADDRESS: "127.0.0.1:7401",
    PAWL_EXECUTOR_SLOTS: 256,
    PAWL_EXECUTOR_GRACE_MS: 30_000,
    PAWL_METRICS_PORT: 7402,
    PAWL_ALLOW_PRIVATE_EGRESS: "",
  });
});

test.each([
  { PAWL_EXECUTOR_SLOTS: "0" },
  { PAWL_ALLOW_PRIVATE_EGRESS: "everything" },
  { PAWL_EXECUTOR_ID: "me" },
  { PAWL_EXECUTOR_SLOT: "5" },
])("a wrong variable is named and refused", (env) => {
  expect(() => parseConfig(env)).toThrow(Object.keys(env)[0]);
});
