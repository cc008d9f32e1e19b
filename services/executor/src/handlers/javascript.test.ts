import { LIMITS } from "@pawl/core/data/limits";
import { expect, onTestFinished, test } from "vitest";
import { Sandbox, type SandboxTask } from "../sandbox/sandbox.ts";
import { probeHandler } from "./handler-probe.fixture.ts";
import { javascriptHandler } from "./javascript.ts";

function setup() {
  const sandbox = new Sandbox({ processesMax: 1 });
  onTestFinished(() => sandbox.stop());
  return javascriptHandler(sandbox);
}

/** A sandbox that only records its tasks. */
function recorder() {
  const tasks: SandboxTask[] = [];
  const run = async (task: SandboxTask) => {
    tasks.push(task);
    return { ok: true, json: "1" } as const;
  };
  return { tasks, handler: javascriptHandler({ run }) };
}

test("user code sees ctx and input, may log, and returns the output (S3.26)", async () => {
  const { result, logs } = await probeHandler(
    setup(),
    { code: "log('hi'); return { hello: ctx.input.name, v: ctx.x, sum: input.a + 1 }" },
    { context: { input: { name: "Ada" }, nodes: {}, vars: { x: [1] } }, params: { a: 1 } },
  );
  expect(result).toEqual({ output: { hello: "Ada", v: [1], sum: 2 } });
  expect(logs).toEqual(["info hi"]);
});

test("a throw and a loop are failures that the retry policy decides about (S3.34)", async () => {
  const handler = setup();
  const threw = await probeHandler(handler, { code: "throw new Error('no')" });
  expect(threw.result).toMatchObject({
    failed: { cause: "js_error", message: "Error: no", permanent: false },
  });
  const looped = await probeHandler(handler, { code: "while (1);", timeout_ms: 50 });
  expect(looped.result).toMatchObject({
    failed: { cause: "js_timeout", permanent: false },
  });
});

test.each(["js_killed", "output_too_large"] as const)("%s is final", async (cause) => {
  const handler = javascriptHandler({ run: async () => ({ ok: false, cause, message: "no" }) });
  const { result } = await probeHandler(handler, { code: "" });
  expect(result).toMatchObject({ failed: { cause, permanent: true } });
});

test("the limit is thirty seconds unless the node sets a shorter one (S3.32, X15)", async () => {
  const { tasks, handler } = recorder();
  await probeHandler(handler, { code: "" }, { timeoutMs: 300_000 });
  await probeHandler(handler, { code: "" }, { timeoutMs: 100 });
  await probeHandler(handler, { code: "", timeout_ms: 7 });
  expect(tasks.map((task) => task.timeoutMs)).toEqual([30_000, 100, 7]);
});

test("too much source and a syntax error are refused before anything runs (S16, S17)", async () => {
  const { tasks, handler } = recorder();
  const long = await probeHandler(handler, { code: " ".repeat(LIMITS.javascriptBytes + 1) });
  const wrong = await probeHandler(handler, { code: "return {{{" });
  expect([long.result, wrong.result].every((result) => "refused" in result)).toBe(true);
  expect(tasks).toEqual([]);
});
