// The glue types as handlers. The scheduler completes them itself; an executor gets one only where it has contracts, moderation
// or limits, where the evaluation is too large for a tick, or where the scheduler sends every node through the queue.

import { GLUE, type Glue } from "@pawl/core/glue/glue";
import { defineHandler, type Handler } from "./handler.ts";

export const glueHandlers: readonly Handler[] = Object.entries(GLUE).map(([type, glue]) => {
  // The table pairs each type with the schema of its config; the handler checks the config before it completes.
  const { config, unrendered, complete } = glue as Glue<unknown>;
  return defineHandler({ type, config, unrendered, execute: complete });
});
