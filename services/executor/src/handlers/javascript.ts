// `javascript`: user code in the sandbox. The code is never a template. It reads `ctx` and `input` as variables.

import { isRecord } from "@pawl/core/data/path";
import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { Failed } from "@pawl/core/handler/failure";
import { LOG_LEVELS, type LogLevel } from "@pawl/core/handler/served";
import type { SandboxResult } from "../sandbox/protocol.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { defineHandler, failedForGood, type Handler, withUnrendered } from "./handler.ts";

/** The limits of user code unless its config sets others. */
const JAVASCRIPT_TIMEOUT_MS = 30_000;

/** Makes the handler with its sandbox. */
export const javascriptHandler = (sandbox: Pick<Sandbox, "run">): Handler =>
  withUnrendered(
    ["code"],
    defineHandler({
      type: "javascript",
      config: NODE_CONFIGS.javascript,
      run: async (_input, { config, ...ctx }) => {
        const made = await sandbox.run({
          code: config.code,
          ctx: ctx.scope.ctx,
          input: ctx.params,
          timeoutMs: Math.min(config.timeout_ms ?? JAVASCRIPT_TIMEOUT_MS, ctx.timeoutMs),
          // A test run has no workflow, so it is its own share.
          share: ctx.workflowId === "" ? ctx.runId : ctx.workflowId,
          signal: ctx.signal,
          onLog: (level, message) => ctx.log(logLevel(level), message),
        });
        if (!made.ok) throw failureOf(made);
        for (const [key, value] of Object.entries(memoryOf(made))) ctx.remember(key, value);
        return JSON.parse(made.json) as unknown;
      },
    }),
  );

/** What the script remembers. The sandbox wrote it as a JSON object; a process that code broke may have written anything. */
function memoryOf({ memoryJson = "{}" }: Extract<SandboxResult, { ok: true }>): object {
  const memory: unknown = JSON.parse(memoryJson);
  return isRecord(memory) ? memory : {};
}

/** A script may read the clock or random numbers, so a throw or a timeout may pass. A script that uses too much memory would do so again. */
function failureOf({ cause, message }: Extract<SandboxResult, { ok: false }>): Failed {
  const mayPass = cause === "js_error" || cause === "js_timeout";
  return mayPass ? new Failed(cause, message) : failedForGood(cause, message);
}

const logLevel = (level: string): LogLevel => LOG_LEVELS.find((known) => known === level) ?? "info";
