// A node type of a process as a handler of this executor. So everything around a handler holds for it too: templates, contracts,
// moderation and timeouts.

import type { Handler, HandlerContext, HandlerResult } from "../handlers/handler.ts";

/** The part of a session that calls a process. */
interface Invoker {
  invoke(type: string, configJson: string, ctx: HandlerContext): Promise<HandlerResult>;
}

/** The handler whose function runs in the process of `session`. The process checks the config by its own schema. */
export const remoteHandler = (session: Invoker, type: string): Handler => ({
  type,
  unrendered: [],
  prepare: (config) => {
    const configJson = JSON.stringify(config) ?? "{}";
    return { ok: true, execute: (ctx) => session.invoke(type, configJson, ctx) };
  },
});
