// Real processes, because only they have signals and exit codes.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { expect, onTestFinished, test } from "vitest";

const room = import.meta.dirname;

/** Runs a service whose start is `start`, TypeScript text with `context` in scope. */
const setup = (start: string, env: Readonly<Record<string, string>> = {}, drainMs = 60_000) => {
  const script = `
    import { runService } from "${room}/service.ts";
    import { armProbes, probe } from "${room}/probe.ts";
    import { createLogger } from "${room}/../telemetry/log.ts";
    armProbes(process.env);
    setInterval(() => undefined, 60_000);
    await runService({
      name: "test",
      log: createLogger({ service: "test", level: "warn" }),
      drainMs: ${drainMs},
      flush: async () => void process.stdout.write(JSON.stringify({ msg: "flushed" }) + "\\n"),
      start: async (context) => { ${start} },
    });`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const exited = once(child, "close") as Promise<[number | null, string | null]>;
  return {
    child,
    exited,
    errors: () => errors,
    line: async () => {
      const { value } = (await lines.next()) as { value: string | undefined };
      return JSON.parse(value ?? "null") as Record<string, unknown> | null;
    },
  };
};

test("the ready line is printed at any level, and SIGTERM drains, flushes and exits with 0", async () => {
  const service = setup(`return {
    port: 1234,
    stop: async () => void process.stdout.write(JSON.stringify({ msg: "drained", aborted: context.signal.aborted }) + "\\n"),
  };`);
  expect(await service.line()).toMatchObject({ level: "info", msg: "ready", port: 1234 });
  service.child.kill("SIGTERM");
  expect(await service.line()).toEqual({ msg: "drained", aborted: true });
  expect(await service.line()).toEqual({ msg: "flushed" });
  expect(await service.exited).toEqual([0, null]);
});

test("a drain that takes too long ends with 1", async () => {
  const service = setup("return { stop: () => new Promise(() => undefined) };", {}, 200);
  await service.line();
  service.child.kill("SIGINT");
  expect(await service.line()).toMatchObject({ msg: "the drain took too long" });
  expect(await service.exited).toEqual([1, null]);
});

test("a second signal forces the end", async () => {
  const service = setup(`return {
    stop: () => { process.stdout.write('{"msg":"draining"}\\n'); return new Promise(() => undefined); },
  };`);
  await service.line();
  service.child.kill("SIGTERM");
  expect(await service.line()).toEqual({ msg: "draining" });
  service.child.kill("SIGTERM");
  expect(await service.exited).toEqual([143, null]);
});

test("a signal during the start drains as soon as the start is over", async () => {
  const service = setup(`
    process.stdout.write('{"msg":"starting"}\\n');
    await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
    return { stop: async () => undefined };`);
  expect(await service.line()).toEqual({ msg: "starting" });
  service.child.kill("SIGTERM");
  expect(await service.exited).toEqual([0, null]);
});

test("a start that fails is logged and ends with 1", async () => {
  const service = setup(`throw new Error("no database");`);
  const line = await service.line();
  expect(line).toMatchObject({ level: "fatal", msg: "the start failed" });
  expect(JSON.stringify(line)).toContain("no database");
  expect(await service.exited).toEqual([1, null]);
});

test("an uncaught rejection is logged and ends with 1", async () => {
  const service = setup(
    `return { stop: async () => undefined, port: void Promise.reject(new Error("lost")) };`,
  );
  await service.line();
  expect(await service.line()).toMatchObject({ level: "fatal", msg: "uncaught error" });
  expect(await service.exited).toEqual([1, null]);
});

test("a service that fails while it serves drains and ends with 1", async () => {
  const service = setup(
    `queueMicrotask(() => context.fail(new Error("the port is gone"))); return { stop: async () => undefined };`,
  );
  expect(await service.exited).toEqual([1, null]);
});

test("a failpoint kills the process at the named hit, and logs it first", async () => {
  const service = setup(
    `for (let hit = 0; hit < 5; hit += 1) probe("tick.before-commit"); return { stop: async () => undefined };`,
    { PAWL_TEST: "1", PAWL_FAILPOINTS: "tick.before-commit@3=kill" },
  );
  expect(await service.exited).toEqual([null, "SIGKILL"]);
  expect(JSON.parse(service.errors())).toEqual({
    msg: "failpoint",
    point: "tick.before-commit",
    hit: 3,
    action: "kill",
  });
});
