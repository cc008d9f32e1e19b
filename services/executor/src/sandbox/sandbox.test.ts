import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sandboxCommands } from "./layers.ts";
import { SandboxProcess } from "./sandbox-process.ts";
import { Sandbox, type SandboxTask } from "./sandbox.ts";
import { residentBytes } from "./watchdog.ts";
import type { SandboxResult } from "./protocol.ts";

// One pool for the file, to prove that the same pool survives every attack below.
let layers = "";
const kills: string[] = [];
const sandbox = new Sandbox({
  processesMax: 2,
  onLayers: (name) => (layers = name),
  onKill: (cause) => kills.push(cause),
});
beforeAll(() => sandbox.start());
afterAll(() => sandbox.stop());

const run = (code: string, task: Partial<SandboxTask> = {}): Promise<SandboxResult> =>
  sandbox.run({
    code,
    ctx: {},
    input: {},
    timeoutMs: 25_000,
    signal: new AbortController().signal,
    ...task,
  });

const causeOf = (result: SandboxResult): string => (result.ok ? "ok" : result.cause);

test("user code returns a value from ctx and input, and may await (S3.26)", async () => {
  const code =
    "const n = await Promise.resolve(ctx.n); return { sum: n + input.m, keys: [1, null] }";
  const result = await run(code, { ctx: { n: 40 }, input: { m: 2 } });
  expect(result).toEqual({ ok: true, json: '{"sum":42,"keys":[1,null]}' });
});

test("code that returns nothing gives null", async () => {
  expect(await run("")).toEqual({ ok: true, json: "null" });
  expect(await run("return undefined // done")).toEqual({ ok: true, json: "null" });
  expect(await run("return { a: undefined, b() {} }")).toEqual({ ok: true, json: "{}" });
});

const NOT_DATA: readonly (readonly [string, string, string])[] = [
  ["a function", "return () => 1", "returned a function; return data that JSON can hold"],
  ["a symbol", 'return Symbol("x")', "returned a symbol; return data that JSON can hold"],
  ["NaN", "return 0 / 0", "returned NaN; return data that JSON can hold"],
  ["Infinity", "return 1 / 0", "returned Infinity; return data that JSON can hold"],
  ["NaN inside", "return { a: [{ total: NaN }] }", 'returned NaN at "total"'],
  ["a function in a list", "return [1, () => 1]", 'returned a function at "1"'],
];

test.each(NOT_DATA)(
  "%s is a failure that says so, and never null",
  async (_name, code, message) => {
    const result = await run(code);
    expect(result).toMatchObject({ ok: false, cause: "js_error" });
    expect(result.ok ? "" : result.message).toContain(message);
  },
);

test("scripts of one workflow that never end do not hold up another workflow", async () => {
  const over = new AbortController();
  const task = { share: "endless", timeoutMs: 20_000, signal: over.signal };
  const endless = Array.from({ length: 6 }, () => run("while (1);", task));
  const ended = Promise.race(endless).then(() => "an endless script ended first");
  const neighbour = run("return 1", { share: "neighbour" });
  expect(await Promise.race([ended, neighbour])).toEqual({ ok: true, json: "1" });
  over.abort();
  await Promise.all(endless);
});

test("only ctx, input and log are there: no process, require, timers, network or WebAssembly (S3.32)", async () => {
  const timers = ["Timeout", "Interval", "Immediate"].map((kind) => `set${kind}`);
  const node = [
    "process",
    "require",
    "module",
    "global",
    "Buffer",
    "fetch",
    "console",
    "performance",
  ];
  const shared = ["queueMicrotask", "WebAssembly", "SharedArrayBuffer", "Atomics", "_ivm", "$0"];
  const code = `return input.names.filter((name) => typeof globalThis[name] !== "undefined")`;
  const result = await run(code, {
    input: { names: [...timers, ...node, ...shared] },
  });
  expect(result.ok ? JSON.parse(result.json) : result).toEqual([]);
  const visible = await run("return [typeof ctx, typeof input, typeof log]");
  expect(visible).toEqual({ ok: true, json: '["object","object","function"]' });
});

test("log lines arrive in order, before the result, and are bounded", async () => {
  const lines: string[] = [];
  const result = await run(
    'log("one"); log({ two: 2 }, "warn"); for (let i = 0; i < 100000; i++) log("xxxxxxxxxxxxxxxx"); return 1',
    { timeoutMs: 5_000, onLog: (level, message) => lines.push(`${level} ${message}`) },
  );
  expect(result).toEqual({ ok: true, json: "1" });
  expect(lines.slice(0, 2)).toEqual(["info one", 'warn {"two":2}']);
  expect(lines.join("").length).toBeLessThan(40_000);
  expect(lines.filter((line) => line.includes("cut here"))).toEqual([
    "warn the log is cut here: a script logs at most 16384 characters",
  ]);
  expect(lines.at(-1)).toContain("cut here");
});

/** Long enough that memory runs out before time. */
const PATIENT_MS = 25_000;
const HASTY_MS = 400;

const attacks: readonly (readonly [string, string, string, number])[] = [
  ["an endless loop (S1)", "while (1);", "js_timeout", HASTY_MS],
  ["a loop after an await", "await null; while (1);", "js_timeout", HASTY_MS],
  ["an endless chain of microtasks", "while (1) await null;", "js_timeout", HASTY_MS],
  ["a promise that never settles", "await new Promise(() => {})", "js_timeout", HASTY_MS],
  ["a huge array (S2)", "return new Array(1e9).fill(0)", "js_killed", PATIENT_MS],
  ["a large array", "return new Array(1e8).fill(0)", "js_killed", PATIENT_MS],
  [
    "an array that grows",
    "const a = []; for (;;) a.push(new Array(1000).fill(1))",
    "js_killed",
    PATIENT_MS,
  ],
  [
    "array buffers",
    "const a = []; for (;;) a.push(new Uint8Array(1e7).fill(1))",
    "js_error",
    PATIENT_MS,
  ],
  ["string doubling", 'let s = "x"; for (;;) s += s', "js_error", PATIENT_MS],
  ["big integer squaring (S4)", "let n = 3n; for (;;) n = n * n", "js_timeout", HASTY_MS],
  [
    "a regular expression that backtracks (S5)",
    'return /^(a+)+$/.test("a".repeat(5000) + "!")',
    "js_timeout",
    HASTY_MS,
  ],
  ["deep recursion (S7)", "const f = () => f() + 1; return f()", "js_error", PATIENT_MS],
  [
    "the constructor's constructor (S8)",
    'return this.constructor.constructor("return process")()',
    "js_error",
    PATIENT_MS,
  ],
  ["log's constructor", 'return log.constructor("return process")()', "js_error", PATIENT_MS],
  // There is no Atomics to wait with: the catalogue's timeout cannot even begin.
  [
    "an atomic wait (S10)",
    "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
    "js_error",
    PATIENT_MS,
  ],
  ["a dynamic import (S11)", 'return await import("node:fs")', "js_error", PATIENT_MS],
  ["require (S11)", 'return require("fs")', "js_error", PATIENT_MS],
  ["throw undefined (S13)", "throw undefined", "js_error", PATIENT_MS],
  [
    "a thrown getter that throws (S13)",
    "throw { get message() { throw 1 } }",
    "js_error",
    PATIENT_MS,
  ],
  [
    "a thrown getter that loops (S13)",
    "throw { get message() { while (1); } }",
    "js_timeout",
    HASTY_MS,
  ],
  ["a result getter that loops (S13)", "return { get a() { while (1); } }", "js_timeout", HASTY_MS],
  ["a ten megabyte result (S14)", 'return "x".repeat(1e7)', "output_too_large", PATIENT_MS],
  ["a result too large in bytes only", 'return "€".repeat(3e6)', "output_too_large", PATIENT_MS],
  ["a syntax error (S17)", "return {{{", "js_error", PATIENT_MS],
  ["code that closes the wrapper", "}); while (1); (function () {", "js_timeout", HASTY_MS],
  ["a circular result", "const a = {}; a.a = a; return a", "js_error", PATIENT_MS],
  ["a big integer result", "return 1n", "js_error", PATIENT_MS],
  [
    "a proxy result",
    "return new Proxy({}, { ownKeys() { throw new Error('no') } })",
    "js_error",
    PATIENT_MS,
  ],
  ["a rejected promise", "await Promise.reject(new TypeError('no'))", "js_error", PATIENT_MS],
  ["a thenable that loops", "return { then() { while (1); } }", "js_timeout", HASTY_MS],
];

test.each(attacks)(
  "%s ends as the node's failure and leaves the host up",
  async (_name, code, cause, timeoutMs) => {
    expect(causeOf(await run(code, { timeoutMs }))).toBe(cause);
    expect(await run("return 1 + 1", { timeoutMs: PATIENT_MS })).toEqual({ ok: true, json: "2" });
  },
);

test("tricks with toJSON and patched globals give plain data at most (S19)", async () => {
  const patched = await run(
    "JSON.stringify = () => 'owned'; Promise.prototype.then = 1; return { a: 1 }",
  );
  expect(patched).toEqual({ ok: true, json: '{"a":1}' });
  expect(await run("return { toJSON: () => ({ b: 2 }) }")).toEqual({ ok: true, json: '{"b":2}' });
  const proto = await run('return JSON.parse(\'{"__proto__":{"x":1}}\')');
  expect(proto).toEqual({ ok: true, json: '{"__proto__":{"x":1}}' });
});

test("every run starts with fresh globals", async () => {
  await run("globalThis.leak = 1; Object.prototype.leak = 1; return 1");
  expect(await run("return [typeof globalThis.leak, ({}).leak === undefined]")).toEqual({
    ok: true,
    json: '["undefined",true]',
  });
});

test("an abort kills the run at once, and the pool still works", async () => {
  const controller = new AbortController();
  const result = run("while (1);", { timeoutMs: 30_000, signal: controller.signal });
  controller.abort();
  expect(causeOf(await result)).toBe("js_killed");
  expect(causeOf(await run("return 1", { signal: controller.signal }))).toBe("js_killed");
  expect(await run("return 7")).toEqual({ ok: true, json: "7" });
});

test("more runs than children wait their turn and all finish", async () => {
  const results = await Promise.all(Array.from({ length: 30 }, (_, i) => run(`return ${i}`)));
  expect(results.map((result) => (result.ok ? result.json : result.cause))).toEqual(
    Array.from({ length: 30 }, (_, i) => String(i)),
  );
});

test("the watchdog ended the runs that the isolate's own limits could not end", () => {
  expect(kills.length).toBeGreaterThan(0);
});

test("a child runs without generated machine code where that is asked for", async () => {
  const strict = new Sandbox({ processesMax: 1, interpreted: true });
  const task = { code: "return ctx.a + 1", ctx: { a: 1 }, input: {}, timeoutMs: 5_000 };
  const result = await strict.run({ ...task, signal: new AbortController().signal });
  expect(result).toEqual({ ok: true, json: "2" });
  await strict.stop();
  await expect(strict.run({ ...task, signal: new AbortController().signal })).rejects.toThrow();
});

test("a child inherits nothing of the environment", async () => {
  const [command] = sandboxCommands({ isRoot: false, interpreted: false });
  if (command === undefined) throw new Error("there is always a way to start a child");
  const child = new SandboxProcess(command);
  expect(await child.ready).toBe(true);
  expect(readFileSync(`/proc/${child.pid}/environ`, "utf8")).toBe("");
  child.kill({ ok: false, cause: "js_killed", message: "" });
  await child.exited;
});

test("a child that talks nonsense or too much is killed, not believed", async () => {
  const talk = (script: string) =>
    new SandboxProcess({ name: "liar", file: process.execPath, args: ["-e", script] });
  const liars = [
    'console.log("nonsense"); setInterval(() => 0, 1000)',
    'console.log(JSON.stringify({ kind: "result", id: 1, result: { ok: true } })); setInterval(() => 0, 1000)',
    'process.stdout.write("x".repeat(1e7)); setInterval(() => 0, 1000)',
  ];
  for (const script of liars) {
    const child = talk(script);
    expect(await child.ready).toBe(false);
    await child.exited;
  }
});

test("the sandbox reports its layers, and the memory of the host process stayed small", () => {
  expect(sandboxCommands({ isRoot: true, interpreted: false }).map(({ name }) => name)).toContain(
    layers,
  );
  expect(residentBytes(process.pid)).toBeLessThan(600 * 1024 * 1024);
});
