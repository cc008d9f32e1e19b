// The config of an approval, and what of it the engine itself reads: how an answer must look, and what follows when none comes.

import { z } from "zod";
import { LIMITS } from "../data/limits.ts";
import type { JsonSchema } from "./shape.ts";
import { rule } from "./zod-issue.ts";

export const approvalConfig = z
  .strictObject({
    message: z.string().min(1).max(LIMITS.approvalMessageLength),
    details: z.unknown().optional(),
    /** Its own rules are those of contracts. */
    response_schema: z.union([z.boolean(), z.record(z.string(), z.unknown())]).optional(),
    assignees: z
      .array(z.string().min(1).max(LIMITS.labelLength))
      .max(LIMITS.approvalAssignees)
      .optional(),
    deadline_ms: z.int().min(1).max(LIMITS.approvalDeadlineMsMax).optional(),
    on_deadline: z.enum(["fail", "default"]).default("fail"),
    default: z.unknown().optional(),
  })
  .refine(
    ({ on_deadline: on, deadline_ms: ms }) => on === "fail" || ms !== undefined,
    rule("BAD_DEADLINE", "what happens at the deadline needs a deadline_ms"),
  )
  .refine(
    (config) => (config.on_deadline === "default") === (config.default !== undefined),
    rule("BAD_DEADLINE", "on_deadline: default and a default belong together"),
  );

/** What the engine reads of an approval. */
export interface ApprovalRules {
  readonly responseSchema: JsonSchema | undefined;
  /** With what it is answered when its time is up; undefined where that is a failure. */
  readonly onTimeout: { readonly response: unknown } | undefined;
}

/** The rules of an execution; one of another type than `approval` may ask a person too, and has none. */
export function approvalRules({
  type,
  config,
}: {
  readonly type: string;
  readonly config: Readonly<Record<string, unknown>>;
}): ApprovalRules {
  if (type !== "approval") return { responseSchema: undefined, onTimeout: undefined };
  // Checked when the definition was read.
  const schema = config["response_schema"] as JsonSchema | undefined;
  const isAnswered = config["on_deadline"] === "default";
  return {
    responseSchema: schema,
    onTimeout: isAnswered ? { response: config["default"] } : undefined,
  };
}
