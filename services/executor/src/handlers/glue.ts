// The glue types as handlers. The scheduler completes most glue nodes itself. An executor gets a glue node that has contracts, moderation
// or limits, or whose evaluation is too large for a tick. It gets all of them if the scheduler sends every node through the queue.

import { GLUE, type Glue, type GlueResult } from "@pawl/core/glue/glue";
import { result } from "@pawl/core/handler/result";
import {
  AwaitedSignal,
  defineHandler,
  Expansion,
  failedForGood,
  type Handler,
  withUnrendered,
} from "./handler.ts";

export const glueHandlers: readonly Handler[] = Object.entries(GLUE).map(([type, glue]) => {
  // The table pairs each type with the schema of its config. The handler checks the config before it completes.
  const { config, unrendered = [], complete } = glue as Glue<unknown>;
  const handler = defineHandler({
    type,
    config,
    // Conditions and `end` see the parameters that edges bind, as in the scheduler.
    run: (_input, ctx) =>
      resultOf(
        complete(ctx.config, { context: ctx.context, scope: ctx.scope, input: ctx.scope.input }),
      ),
  });
  return withUnrendered(unrendered, handler);
});

function resultOf(made: GlueResult) {
  if ("failed" in made) throw failedForGood(made.failed.cause, made.failed.message);
  if ("expand" in made) return new Expansion(made.expand.items, made.expand.cut);
  if ("wait" in made) return new AwaitedSignal(made.wait);
  const { output, ...facts } = made;
  return result(output, facts);
}
