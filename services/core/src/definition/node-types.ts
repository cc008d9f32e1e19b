// The configs of the built-in node types. Any other type belongs to an executor of a user, and its config may be anything.

import { z } from "zod";
import { compileCondition } from "../data/expression.ts";
import { LIMITS } from "../data/limits.ts";
import { exceedsUtf8 } from "../data/utf8.ts";
import { nameSchema } from "./schema.ts";
import { approvalConfig } from "./approval-config.ts";
import { dataQueryConfig } from "./data-query-config.ts";
import { llmConfig } from "./llm-config.ts";
import { isTemplate, loopSchema, mapSchema, subworkflowSchema } from "./scope-types.ts";
import { checkScript } from "./script.ts";
import { rule } from "./zod-issue.ts";

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const HTTP_TIMEOUT_MS_MAX = 300_000;

const whenSchema = z.string().superRefine((text, context) => {
  const compiled = compileCondition(text);
  if (!compiled.ok)
    context.addIssue({ code: "custom", ...rule(compiled.reason, compiled.message) });
});

const branchSchema = z.strictObject({
  id: nameSchema.refine(
    (id) => id !== "error",
    rule("RESERVED_KEY", "error is the handle of failures; choose another id"),
  ),
  when: whenSchema,
});

const codeSchema = z.string().superRefine((code, context) => {
  if (exceedsUtf8(code, LIMITS.javascriptBytes))
    context.addIssue({
      code: "custom",
      ...rule("JS_TOO_LARGE", `a script may have at most ${LIMITS.javascriptBytes} bytes`),
    });
  else {
    const fault = checkScript(code);
    if (fault !== undefined) context.addIssue({ code: "custom", ...rule("JS_SYNTAX", fault) });
  }
});

const urlSchema = z
  .string()
  .min(1)
  .max(8_192)
  .refine(
    (url) => isTemplate(url) || /^https?:$/.test(URL.parse(url)?.protocol ?? ""),
    rule("URL_BLOCKED", "must be an http or https address, or a template that gives one"),
  );

const headersSchema = z.record(
  z
    .string()
    .refine(
      (name) => HEADER_NAME.test(name),
      rule("HEADER_INJECTION", "is not a valid header name"),
    ),
  z
    .string()
    .max(8_192)
    .refine(
      (value) => !/[\r\n\0]/.test(value),
      rule("HEADER_INJECTION", "a header must be one line"),
    ),
);

const scalarSchema = z.union([z.string(), z.number(), z.boolean()]);

/** Config schemas by node type. Keys are as authors write them. */
export const NODE_CONFIGS = {
  start: z.strictObject({}),
  end: z.strictObject({ output_parameters: z.record(z.string(), z.unknown()).optional() }),
  condition: z.strictObject({ branches: z.array(branchSchema).min(1).max(100) }),
  delay: z.strictObject({
    delay_ms: z.union([
      z.int().min(0).max(LIMITS.delayMsMax),
      z
        .string()
        .refine(
          isTemplate,
          rule("WRONG_TYPE", "must be a number of milliseconds, or a template that gives one"),
        ),
    ]),
  }),
  javascript: z.strictObject({
    code: codeSchema,
    timeout_ms: z.int().min(1).max(LIMITS.nodeTimeoutMsMax).optional(),
  }),
  http: z.strictObject({
    url: urlSchema,
    method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]).default("GET"),
    headers: headersSchema.optional(),
    query: z.record(z.string(), scalarSchema).optional(),
    body: z.unknown().optional(),
    timeout_ms: z.int().min(1).max(HTTP_TIMEOUT_MS_MAX).optional(),
    /** The promise about the call; idempotent by default, unless it is GET or HEAD. */
    effect: z.enum(["idempotent", "at_most_once", "none"]).optional(),
    idempotency_key_header: z
      .string()
      .refine(
        (name) => HEADER_NAME.test(name),
        rule("HEADER_INJECTION", "is not a valid header name"),
      )
      .optional(),
  }),
  approval: approvalConfig,
  llm: llmConfig,
  map: mapSchema,
  loop: loopSchema,
  subworkflow: subworkflowSchema,
  dataQuery: dataQueryConfig,
  /** Completes at once: for tests and benches. */
  noop: z.strictObject({}),
  /** Streams a fixed text in pieces: a deterministic demonstration of partial output. */
  text_stream: z.strictObject({
    text: z.string().max(LIMITS.templateBytes),
    chunk_chars: z.int().min(1).max(10_000).default(16),
    interval_ms: z.int().min(0).max(60_000).default(0),
  }),
} as const;

export type BuiltInType = keyof typeof NODE_CONFIGS;
/** The parsed config of a built-in type. */
export type NodeConfig<T extends BuiltInType> = z.output<(typeof NODE_CONFIGS)[T]>;

/** The types that act on nothing outside of their run: the scheduler completes them itself. */
export const GLUE_TYPES = [
  "start",
  "end",
  "noop",
  "condition",
  "delay",
  "map",
  "loop",
] as const satisfies readonly BuiltInType[];
export type GlueType = (typeof GLUE_TYPES)[number];

const glueTypes: ReadonlySet<string> = new Set(GLUE_TYPES);
/** True for a type that the scheduler completes itself. */
export const isGlueType = (type: string): type is GlueType => glueTypes.has(type);

/** True for a type whose config the core knows. */
export const isBuiltIn = (type: string): type is BuiltInType => Object.hasOwn(NODE_CONFIGS, type);

/** Keys of a config whose texts are another language, not templates. */
export const isTemplateFree = (type: string, key: string): boolean =>
  (type === "javascript" && key === "code") ||
  (type === "dataQuery" && key === "sql") ||
  (type === "condition" && key === "when") ||
  (type === "loop" && key === "until");
