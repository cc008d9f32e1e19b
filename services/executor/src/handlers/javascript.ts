// `javascript`: user code in the sandbox. The code is never a template; it reads `ctx` and `input` as variables.

import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import type { SandboxResult } from "../sandbox/protocol.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import {
  defineHandler,
  failure,
  LOG_LEVELS,
  permanentFailure,
  type Handler,
  type HandlerFailure,
  type LogLevel,
} from "./handler.ts";

/** The limits of user code unless its config sets others. */
const JAVASCRIPT_TIMEOUT_MS = 30_000;

/** Makes the handler with its sandbox. */
export const javascriptHandler = (sandbox: Pick<Sandbox, "run">): Handler =>
  defineHandler({
    type: "javascript",
    config: NODE_CONFIGS.javascript,
    unrendered: ["code"],
    execute: async (config, ctx) => {
      const result = await sandbox.run({
        code: config.code,
        ctx: ctx.scope.ctx,
        input: ctx.input,
        timeoutMs: Math.min(config.timeout_ms ?? JAVASCRIPT_TIMEOUT_MS, ctx.timeoutMs),
        // A test run has no workflow and counts as a share of its own.
        share: ctx.workflowId === "" ? ctx.runId : ctx.workflowId,
        signal: ctx.signal,
        onLog: (level, message) => ctx.log(logLevel(level), message),
      });
      if (!result.ok) return failureOf(result);
      return { output: JSON.parse(result.json) };
    },
  });

/** A script may read the clock or random numbers, so a throw or a timeout may pass. A script that uses too much memory would do so again. */
function failureOf({ cause, message }: Extract<SandboxResult, { ok: false }>): HandlerFailure {
  const mayPass = cause === "js_error" || cause === "js_timeout";
  return mayPass ? failure(cause, message) : permanentFailure(cause, message);
}

const logLevel = (level: string): LogLevel => LOG_LEVELS.find((known) => known === level) ?? "info";
