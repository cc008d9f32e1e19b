// `map`: finds its items; the scheduler runs its body once for each, some at a time, and joins the outputs.

import { LIMITS } from "@pawl/core/data/limits";
import { z } from "zod";
import { defineHandler, permanentFailure } from "./handler.ts";

export const mapHandler = defineHandler({
  type: "map",
  // The parser checked the rest of the config, and only the scheduler uses it.
  config: z.looseObject({ items: z.array(z.unknown()) }),
  unrendered: ["body"],
  execute: ({ items }) =>
    items.length > LIMITS.scopeWidth
      ? permanentFailure("too_many_items", `${items.length} items; at most ${LIMITS.scopeWidth}`)
      : { expand: { items } },
});
