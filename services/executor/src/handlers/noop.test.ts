import { expect, test } from "vitest";
import { probeHandler } from "./handler-probe.fixture.ts";
import { noopHandler } from "./noop.ts";

test("noop completes at once with an empty object", async () => {
  expect((await probeHandler(noopHandler, {})).result).toEqual({ output: {} });
});
