// Test support: a handler that runs until the test opens it or it is aborted, and reports both.

import { defineHandler } from "../handlers/handler.ts";

/** A fresh gate; node type `gate`. */
export function gateHandler() {
  const opened = Promise.withResolvers<unknown>();
  const started = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const handler = defineHandler({
    type: "gate",
    run: async (_input, ctx) => {
      ctx.signal.addEventListener("abort", () => aborted.resolve());
      started.resolve();
      return await opened.promise;
    },
  });
  return {
    handler,
    open: opened.resolve,
    started: started.promise,
    aborted: aborted.promise,
  };
}
