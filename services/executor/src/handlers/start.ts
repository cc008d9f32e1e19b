// `start`: the first node of a run; it passes the run's input on.

import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { defineHandler } from "./handler.ts";

export const startHandler = defineHandler({
  type: "start",
  config: NODE_CONFIGS.start,
  execute: (_config, ctx) => ({ output: { started: true, inputReceived: ctx.context.input } }),
});
