// The answer of a person in a `resume` command.

import { checkJson } from "@pawl/core/data/json";
import { z } from "zod";

export const humanResponseSchema = z.object({
  node_id: z.string(),
  iteration: z.int().min(0).default(0),
  decision: z.enum(["approve", "reject"]),
  comment: z.string().default(""),
  decided_by: z.string().default(""),
  /** The answer to an approval: any JSON that fits its response_schema. */
  response: z.json().optional(),
  /** The same as JSON text, to the letter. It takes precedence. */
  response_json: z
    .string()
    .refine((text) => checkJson(text).ok)
    .optional(),
});

/** An answer as a caller may write it. */
export type HumanResponse = z.input<typeof humanResponseSchema>;
