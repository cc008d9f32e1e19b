import { expect, test } from "vitest";
import { probeHandler } from "./handler-probe.fixture.ts";
import { startHandler } from "./start.ts";

test("start says that the run began and with what (S3.24)", async () => {
  const { result } = await probeHandler(startHandler, {});
  expect(result).toEqual({ output: { started: true, inputReceived: { name: "Ada" } } });
});

test("start takes no settings", async () => {
  expect((await probeHandler(startHandler, { a: 1 })).result).toHaveProperty("refused");
});
