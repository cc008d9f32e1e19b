// The config of an approval, and the part that the scheduler reads: the schema of an answer, and the rule for a passed deadline.

import { z } from "zod";
import { LIMITS } from "../data/limits.ts";
import type { JsonSchema } from "./shape.ts";
import { rule } from "./zod-issue.ts";

export const approvalConfig = z
  .strictObject({
    message: z.string().min(1).max(LIMITS.approvalMessageLength),
    details: z.unknown().optional(),
    /** The rules of contracts apply to it. */
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
    rule("BAD_DEADLINE", "on_deadline needs a deadline_ms"),
  )
  .refine(
    (config) => (config.on_deadline === "default") === (config.default !== undefined),
    rule(
      "BAD_DEADLINE",
      "on_deadline: default needs a default, and a default needs on_deadline: default",
    ),
  );

/** The part of an approval's config that the scheduler reads. */
interface ApprovalRules {
  readonly responseSchema: JsonSchema | undefined;
  /** The answer that the scheduler records when the deadline passes. Undefined if that is a failure. */
  readonly onTimeout: { readonly response: unknown } | undefined;
}

/** The rules of an execution. A node of another type than `approval` may ask a person too. It has no rules. */
export function approvalRules({
  type,
  config,
}: {
  readonly type: string;
  readonly config: Readonly<Record<string, unknown>>;
}): ApprovalRules {
  if (type !== "approval") return { responseSchema: undefined, onTimeout: undefined };
  // The parser checked the schema.
  const schema = config["response_schema"] as JsonSchema | undefined;
  const isAnswered = config["on_deadline"] === "default";
  return {
    responseSchema: schema,
    onTimeout: isAnswered ? { response: config["default"] } : undefined,
  };
}
