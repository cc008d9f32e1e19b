import { expect, test } from "vitest";
import { endHandler } from "./end.ts";
import { probeHandler } from "./handler-probe.fixture.ts";

const context = (nodes: Record<string, unknown>) => ({ input: null, nodes, vars: {} });

test("end collects its output parameters and leaves by no handle (S3.25)", async () => {
  const { result } = await probeHandler(endHandler, { output_parameters: { total: 3, list: [1] } });
  expect(result).toEqual({ output: { total: 3, list: [1] } });
});

test("without output parameters end passes on what its edges bring", async () => {
  const bound = await probeHandler(endHandler, {}, { input: { a: 1 } });
  expect(bound.result).toEqual({ output: { a: 1 } });
  const only = await probeHandler(endHandler, {}, { context: context({ x: [1] }) });
  expect(only.result).toEqual({ output: [1] });
  const both = await probeHandler(endHandler, {}, { context: context({ x: 1, y: 2 }) });
  expect(both.result).toEqual({ output: { x: 1, y: 2 } });
});
