// `map`: finds its items; the scheduler runs its body once for each, some at a time, and joins what they give.

import { LIMITS } from "@pawl/core/data/limits";
import { z } from "zod";
import { defineHandler, permanentFailure } from "./handler.ts";

export const mapHandler = defineHandler({
  type: "map",
  // The rest of the config was checked with the definition and is the scheduler's.
  config: z.looseObject({ items: z.array(z.unknown()) }),
  unrendered: ["body"],
  execute: ({ items }) =>
    items.length > LIMITS.scopeWidth
      ? permanentFailure("too_many_items", `${items.length} items; at most ${LIMITS.scopeWidth}`)
      : { expand: { items } },
});
