// `subworkflow`: names the child run; the scheduler starts it, and the node waits without using capacity. The child's input is the
// config's `input`, or else the node's own parameters.

import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { defineHandler } from "./handler.ts";

export const subworkflowHandler = defineHandler({
  type: "subworkflow",
  config: NODE_CONFIGS.subworkflow,
  execute: ({ workflow_id: workflowId, version = 0, input }, ctx) => ({
    child: { workflowId, version, input: input === undefined ? ctx.input : input },
  }),
});
