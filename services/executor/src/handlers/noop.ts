// `noop`: completes at once; for tests, benches and joins that only wait.

import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { defineHandler } from "./handler.ts";

const NOTHING = { output: {} };

export const noopHandler = defineHandler({
  type: "noop",
  config: NODE_CONFIGS.noop,
  execute: () => NOTHING,
});
