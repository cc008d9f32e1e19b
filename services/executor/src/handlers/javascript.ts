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

/** What user code gets unless its config says otherwise. */
export const JAVASCRIPT_TIMEOUT_MS = 30_000;

/** Makes the handler over a sandbox. */
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
        // A test run has no workflow; it is a share of its own.
        share: ctx.workflowId === "" ? ctx.runId : ctx.workflowId,
        signal: ctx.signal,
        onLog: (level, message) => ctx.log(logLevel(level), message),
      });
      if (!result.ok) return failureOf(result);
      return { output: JSON.parse(result.json) };
    },
  });

/** A script may read the clock or chance, so a throw and a timeout may pass; one that takes too much takes it again. */
function failureOf({ cause, message }: Extract<SandboxResult, { ok: false }>): HandlerFailure {
  const mayPass = cause === "js_error" || cause === "js_timeout";
  return mayPass ? failure(cause, message) : permanentFailure(cause, message);
}

const logLevel = (level: string): LogLevel => LOG_LEVELS.find((known) => known === level) ?? "info";
