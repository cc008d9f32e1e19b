// `end`: collects the run's result from its output parameters, which are templates. Without any, it passes on its own parameters, else the
// output of its only parent, else the outputs of its parents by node id.

import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { defineHandler, type HandlerContext } from "./handler.ts";

export const endHandler = defineHandler({
  type: "end",
  config: NODE_CONFIGS.end,
  execute: (config, ctx) => ({ output: config.output_parameters ?? brought(ctx) }),
});

function brought(ctx: HandlerContext): unknown {
  if (Object.keys(ctx.input).length > 0) return ctx.input;
  const outputs = Object.values(ctx.context.nodes);
  return outputs.length === 1 ? outputs[0] : ctx.context.nodes;
}
