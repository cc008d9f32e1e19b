// One run of user code in a fresh isolate and context. Runs inside the sandbox child only: an isolate alone can be made to
// take its whole process down (`new Array(1e9).fill(0)`), so the parent's watchdog is the real limit and this is the first.
// Only strings cross: `ctx` and `input` go in as JSON text, the result and log lines come out as text.

import ivm from "isolated-vm";
import type { SandboxRequest, SandboxResult } from "./protocol.ts";

/**
 * Takes away shared memory, WebAssembly and the console that says nothing, and returns the runner, which holds pristine JSON functions. Whatever user code does
 * to its own globals afterwards, the runner gives back one string: "V" + JSON of the value, "E" + message, "L" when too large.
 * JSON writes null for a number that is not finite, and for a function or symbol that stands in a list or alone. The runner refuses these:
 * the next node would read a null that no code returned. A property that is one is left out, as JSON does.
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
      const said = typeof message === "string" ? message : "threw an object";
      return typeof name === "string" ? name + ": " + said : said;
    } catch { return "threw something that cannot be described"; }
  };
  const { isArray } = Array, { isFinite } = Number;
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
      const json = stringify(await main(parse(ctxText), parse(inputText), log), asData);
      if (json === undefined) return "Vnull";
      return json.length > resultMax ? "L" : "V" + json;
    } catch (error) { return "E" + describe(error); }
  };
})()`;

const MESSAGE_LENGTH_MAX = 2_000;

/** Wraps code so that `return` and `await` work in it. The newline keeps a trailing comment harmless. */
export const wrapUserCode = (code: string): string =>
  `(async function (ctx, input, log) {${code}\n})`;

/** Runs user code to its end, its time limit or its memory limit, whichever is first. Never rejects. */
export async function runInIsolate(
  request: SandboxRequest,
  onLog: (level: string, message: string) => void,
): Promise<SandboxResult> {
  const isolate = new ivm.Isolate({ memoryLimit: request.memoryMb });
  let timedOut = false;
  // The isolate's own timeout covers synchronous stretches; this one covers a promise that never settles.
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
  const write = new ivm.Callback(
    (level: unknown, message: unknown) => onLog(String(level), String(message)),
    { ignored: true },
  );
  const args = [
    main.derefInto(),
    request.ctx,
    request.input,
    request.resultBytesMax,
    request.logBytesMax,
    write,
  ];
  return await runner.apply(undefined, args, { timeout, result: { promise: true, copy: true } });
}

function interpret(said: unknown, resultBytesMax: number): SandboxResult {
  if (typeof said !== "string") return jsError("returned something that is not data");
  const body = said.slice(1);
  if (said.startsWith("E")) return jsError(body);
  if (said.startsWith("V") && Buffer.byteLength(body) <= resultBytesMax) {
    return { ok: true, json: body };
  }
  return {
    ok: false,
    cause: "output_too_large",
    message: `the result is larger than ${resultBytesMax} bytes`,
  };
}

function explain(error: unknown, isolate: ivm.Isolate, request: SandboxRequest): SandboxResult {
  const said = errorText(error);
  if (said.includes("Script execution timed out")) return timeout(request.timeoutMs);
  if (isolate.isDisposed || said.includes("memory limit")) {
    return {
      ok: false,
      cause: "js_killed",
      message: `used more than ${request.memoryMb} MB of memory`,
    };
  }
  return jsError(said);
}

/** What was thrown may be anything, `undefined` and hostile getters included. */
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
