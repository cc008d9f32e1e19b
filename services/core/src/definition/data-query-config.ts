// The config of a `dataQuery` node: the name of a source, one SQL statement, and the values bound to its $1, $2, …. The statement is
// never a template, because a value inside SQL text would allow SQL injection.

import { z } from "zod";
import { LIMITS } from "../data/limits.ts";
import { rule } from "./zod-issue.ts";

const PARAMETERS_MAX = 100;

export const dataQueryConfig = z.strictObject({
  source: z.string().min(1).max(LIMITS.labelLength),
  sql: z
    .string()
    .min(1)
    .max(LIMITS.templateBytes)
    .refine(
      (sql) => !sql.includes("{{"),
      rule("TEMPLATE_IN_SQL", "SQL is no template: write $1, $2, … and bind values by parameters"),
    ),
  /** Values or templates. */
  parameters: z.array(z.unknown()).max(PARAMETERS_MAX).default([]),
  /** At most as many as the source allows. */
  max_rows: z.int().min(1).max(LIMITS.queryRowsMax).optional(),
  /** Whether a writing statement is recorded in its own database, in its own transaction. */
  effect: z.enum(["transactional", "none"]).optional(),
  timeout_ms: z.int().min(1).max(LIMITS.nodeTimeoutMsMax).optional(),
});
