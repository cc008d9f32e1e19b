// One run of user code in a fresh isolate and context. It runs only inside the sandbox child, because code in an isolate can crash its
// whole process (`new Array(1e9).fill(0)`). So the parent's watchdog is the real limit, and the isolate is only the first one. Only strings
// are exchanged: `ctx` and `input` enter as JSON text, the result, the memory and log lines leave as text.

import ivm from "isolated-vm";
import type { SandboxRequest, SandboxResult } from "./protocol.ts";

/**
 * Removes shared memory, WebAssembly and the useless console, and returns the runner, which holds pristine JSON functions. User code may
 * change its own globals later. The runner still returns one string: "V" + JSON of the value, "E" + message, "L" if it is too large.
 *
 * A script that calls `ctx.remember` gets "M" + the length of the JSON of the memory + ":" + that JSON before the JSON of the value.
 *
 * JSON writes null for a number that is not finite, and for a function or symbol in a list or alone. The runner refuses these: the next node
 * would read a null that no code returned. It leaves out a property with such a value, as JSON does.
 */
const BOOTSTRAP = `(() => {
  "use strict";
  for (const name of ["WebAssembly", "SharedArrayBuffer", "Atomics", "console"]) delete globalThis[name];
  const { parse, stringify } = JSON;
  const text = String;
  const describe = (error) => {
    try {
      if (typeof error !== "object" || error === null) return "threw " + text(error);
      const name = error.name, message = error.message;
      const text = typeof message === "string" ? message : "threw an object";
      return typeof name === "string" ? name + ": " + text : text;
    } catch { return "threw something that cannot be described"; }
  };
  const { isArray } = Array, { isFinite } = Number, { create, defineProperty, hasOwn } = Object;
  const refuse = (what, key) => {
    throw { message: "returned " + what + (key === "" ? "" : " at " + stringify(key)) + "; return data that JSON can hold" };
  };
  function asData(key, value) {
    if (typeof value === "number" && !isFinite(value)) refuse(text(value), key);
    const becomesNull = key === "" || isArray(this);
    if (becomesNull && (typeof value === "function" || typeof value === "symbol")) refuse("a " + typeof value, key);
    return value;
  }
  return async (main, ctxText, inputText, resultMax, logMax, write) => {
    let logged = 0;
    let isFull = false;
    const log = (message, level) => {
      let line;
      try { line = typeof message === "string" ? message : text(stringify(message)); } catch { line = "?"; }
      if (isFull) return;
      const room = logged < logMax ? logMax - logged : 0;
      isFull = line.length > room;
      if (isFull) line = line.slice(0, room);
      logged += line.length + 1;
      write(level === "debug" || level === "warn" || level === "error" ? level : "info", line);
      if (isFull) write("warn", "the log is cut here: a script logs at most " + logMax + " characters");
    };
    try {
      const ctx = parse(ctxText);
      const memory = create(null);
      let hasMemory = false;
      const remember = (key, value) => {
        const json = stringify(value, asData);
        if (json === undefined) refuse("nothing", "remember " + text(key));
        defineProperty(memory, text(key), { value: parse(json), enumerable: true, configurable: true });
        hasMemory = true;
      };
      if (!hasOwn(ctx, "remember")) defineProperty(ctx, "remember", { value: remember });
      const json = stringify(await main(ctx, parse(inputText), log), asData) ?? "null";
      if (json.length > resultMax) return "L";
      if (!hasMemory) return "V" + json;
      const memoryJson = stringify(memory);
      return memoryJson.length > resultMax ? "L" : "M" + memoryJson.length + ":" + memoryJson + json;
    } catch (error) { return "E" + describe(error); }
  };
})()`;

const MESSAGE_LENGTH_MAX = 2_000;

/** Wraps code so that it may use `return` and `await`. The newline ends a trailing comment. */
const wrapUserCode = (code: string): string => `(async function (ctx, input, log) {${code}\n})`;

/** Runs user code to its end, its time limit or its memory limit, whichever is first. Never rejects. */
export async function runInIsolate(
  request: SandboxRequest,
  onLog: (level: string, message: string) => void,
): Promise<SandboxResult> {
  const isolate = new ivm.Isolate({ memoryLimit: request.memoryMb });
  let timedOut = false;
  // The isolate's own timeout covers synchronous code. This one covers a promise that never settles.
  const timer = setTimeout(() => {
    timedOut = true;
    dispose(isolate);
  }, request.timeoutMs);
  try {
    return interpret(await evaluate(isolate, request, onLog), request.resultBytesMax);
  } catch (error) {
    return timedOut ? timeout(request.timeoutMs) : explain(error, isolate, request);
  } finally {
    clearTimeout(timer);
    dispose(isolate);
  }
}

async function evaluate(
  isolate: ivm.Isolate,
  request: SandboxRequest,
  onLog: (level: string, message: string) => void,
): Promise<unknown> {
  const { timeoutMs: timeout } = request;
  const context = await isolate.createContext();
  const runner: ivm.Reference = await context.eval(BOOTSTRAP, { timeout, reference: true });
  const main: ivm.Reference = await context.eval(wrapUserCode(request.code), {
    timeout,
    reference: true,
    filename: "node.js",
  });
  const log = (level: unknown, message: unknown) => onLog(String(level), String(message));
  const write = new ivm.Callback(log, { ignored: true });
  const { ctx, input, resultBytesMax, logBytesMax } = request;
  const args = [main.derefInto(), ctx, input, resultBytesMax, logBytesMax, write];
  return await runner.apply(undefined, args, { timeout, result: { promise: true, copy: true } });
}

function interpret(raw: unknown, resultBytesMax: number): SandboxResult {
  if (typeof raw !== "string") return jsError("returned something that is not data");
  const body = raw.slice(1);
  if (raw.startsWith("E")) return jsError(body);
  if (raw.startsWith("V") && Buffer.byteLength(body) <= resultBytesMax)
    return { ok: true, json: body };
  const colon = body.indexOf(":") + 1;
  const end = colon + Number(body.slice(0, Math.max(0, colon - 1)));
  if (raw.startsWith("M") && Buffer.byteLength(body.slice(end)) <= resultBytesMax)
    return { ok: true, memoryJson: body.slice(colon, end), json: body.slice(end) };
  const message = `the result is larger than ${resultBytesMax} bytes`;
  return { ok: false, cause: "output_too_large", message };
}

function explain(error: unknown, isolate: ivm.Isolate, request: SandboxRequest): SandboxResult {
  const text = errorText(error);
  if (text.includes("Script execution timed out")) return timeout(request.timeoutMs);
  if (isolate.isDisposed || text.includes("memory limit")) {
    const message = `used more than ${request.memoryMb} MB of memory`;
    return { ok: false, cause: "js_killed", message };
  }
  return jsError(text);
}

/** Code may throw anything, including `undefined` and objects with hostile getters. */
function errorText(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : `threw ${String(error)}`;
  } catch {
    return "threw something that cannot be described";
  }
}

const jsError = (message: string): SandboxResult => ({
  ok: false,
  cause: "js_error",
  message: message.slice(0, MESSAGE_LENGTH_MAX),
});

const timeout = (timeoutMs: number): SandboxResult => ({
  ok: false,
  cause: "js_timeout",
  message: `ran longer than ${timeoutMs} ms`,
});

function dispose(isolate: ivm.Isolate): void {
  if (!isolate.isDisposed) isolate.dispose();
}
