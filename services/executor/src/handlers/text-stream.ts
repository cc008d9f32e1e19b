// `text_stream`: streams a text in pieces and completes with the whole text. It is deterministic and shows streaming without a provider.

import { setTimeout as wait } from "node:timers/promises";
import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { defineHandler } from "./handler.ts";

export const textStreamHandler = defineHandler({
  type: "text_stream",
  config: NODE_CONFIGS.text_stream,
  run: async (_input, ctx) => {
    const { config } = ctx;
    // Split by code points, so that no piece ends inside one.
    const points = Array.from(config.text);
    for (let at = 0; at < points.length; at += config.chunk_chars) {
      if (at > 0 && config.interval_ms > 0) {
        await wait(config.interval_ms, undefined, { signal: ctx.signal });
      }
      ctx.signal.throwIfAborted();
      await ctx.emit(points.slice(at, at + config.chunk_chars).join(""));
    }
    return { text: config.text };
  },
});
