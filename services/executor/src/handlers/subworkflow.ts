// `subworkflow`: names the child run. The scheduler starts it, and the node waits without using capacity. The child's input is the config's
// `input`, or the node's own parameters.

import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { ChildRun, defineHandler } from "./handler.ts";

export const subworkflowHandler = defineHandler({
  type: "subworkflow",
  config: NODE_CONFIGS.subworkflow,
  run: (_input, { config, params }) => {
    const { workflow_id: workflowId, version = 0, input } = config;
    return new ChildRun({ workflowId, version, input: input === undefined ? params : input });
  },
});
