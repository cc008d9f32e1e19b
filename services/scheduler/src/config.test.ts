import { ConfigFault } from "@pawl/platform/config/env";
import { expect, test } from "vitest";
import { parseConfig } from "./config.ts";

const DATABASE_URL = "postgres://user:password@127.0.0.1:5432/pawl";

test("production needs the token of the executors, development does without, and neither prints it", () => {
  const production = { DATABASE_URL, PAWL_ENV: "production" };
  expect(() => parseConfig(production)).toThrow(ConfigFault);
  expect(() => parseConfig(production)).toThrow("PAWL_EXECUTOR_TOKEN: production needs it");
  expect(() => parseConfig({ DATABASE_URL, PAWL_EXECUTOR_TOKEN: "short" })).toThrow("at least 16");
  expect(parseConfig({ DATABASE_URL }).PAWL_EXECUTOR_TOKEN).toBeUndefined();
  const config = parseConfig({ ...production, PAWL_EXECUTOR_TOKEN: "a-long-random-text" });
  expect(JSON.stringify(config)).not.toContain("a-long-random-text");
});
