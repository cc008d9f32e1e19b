// The configs of the built-in node types. Any other type belongs to an executor of a user, and its config may be anything.

import { z } from "zod";
import { compileCondition } from "../data/expression.ts";
import { LIMITS } from "../data/limits.ts";
import { compilePattern } from "../data/pattern.ts";
import { exceedsUtf8 } from "../data/utf8.ts";
import { agentSchema, supervisorSchema } from "./agent-config.ts";
import { approvalConfig } from "./approval-config.ts";
import { llmSchema, timeoutSchema } from "./model-config.ts";
import { labelsSchema, memoryKeySchema, nameSchema, wholeMs } from "./schema.ts";
import {
  isTemplate,
  loopSchema,
  mapSchema,
  subworkflowSchema,
  templateFor,
} from "./scope-types.ts";
import { signalConfig } from "./signal-config.ts";
import { checkedText, rule } from "./zod-issue.ts";

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

const whenSchema = checkedText((text) => {
  const compiled = compileCondition(text);
  return compiled.ok ? undefined : compiled;
});

const branchSchema = z.strictObject({
  id: nameSchema.refine(
    (id) => id !== "error",
    rule("RESERVED_KEY", "error is the handle of failures; choose another id"),
  ),
  when: whenSchema,
});

const codeSchema = checkedText((code) => {
  const message = `a script may have at most ${LIMITS.javascriptBytes} bytes`;
  if (exceedsUtf8(code, LIMITS.javascriptBytes)) return { reason: "JS_TOO_LARGE", message };
  const fault = scriptFault(code);
  return fault === undefined ? undefined : { reason: "JS_SYNTAX", message: fault };
});

const AsyncFunction: unknown = Object.getPrototypeOf(async () => undefined).constructor;

/**
 * The syntax error of a script, so that no run meets a typing error. Undefined if code generation is switched off. The script is compiled
 * as the body of an async function, as the sandbox runs it, and is never called here.
 */
function scriptFault(code: string): string | undefined {
  if (typeof AsyncFunction !== "function") return undefined;
  try {
    Reflect.construct(AsyncFunction, ["ctx", "input", code]);
    return undefined;
  } catch (error) {
    if (error instanceof EvalError) return undefined;
    return error instanceof Error ? error.message.slice(0, 200) : "the script does not parse";
  }
}

const urlSchema = z
  .string()
  .min(1)
  .max(8_192)
  .refine(
    (url) => isTemplate(url) || /^https?:$/.test(URL.parse(url)?.protocol ?? ""),
    rule("URL_BLOCKED", "must be an http or https address, or a template that gives one"),
  );

const headerNameSchema = z
  .string()
  .refine((name) => HEADER_NAME.test(name), rule("HEADER_INJECTION", "is not a valid header name"));

const ONE_LINE = rule("HEADER_INJECTION", "a header must be one line");
const headersSchema = z.record(
  headerNameSchema,
  z
    .string()
    .max(8_192)
    .refine((value) => !/[\r\n\0]/.test(value), ONE_LINE),
);

/**
 * The name of a source, one SQL statement, and the values of its $1, $2, …. The statement is never a template, because a value inside SQL
 * text would allow SQL injection.
 */
const dataQuerySchema = z.strictObject({
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
  parameters: z.array(z.unknown()).max(100).default([]),
  /** The number of rows. The source has its own maximum. */
  max_rows: z.int().min(1).max(LIMITS.queryRowsMax).optional(),
  /** Whether the rows have the label `data`: the source holds data that others wrote. */
  untrusted: z.boolean().optional(),
  /** Whether a writing statement is recorded in its own database, in its own transaction. */
  effect: z.enum(["transactional", "none"]).optional(),
  timeout_ms: timeoutSchema,
});

const sanitizePattern = checkedText((text) => {
  const compiled = compilePattern(text);
  return compiled.ok ? undefined : { reason: "CONTRACT_PATTERN", message: compiled.message };
});

const scalarSchema = z.union([z.string(), z.number(), z.boolean()]);

/** Config schemas by node type. Keys are as authors write them. */
export const NODE_CONFIGS = {
  start: z.strictObject({}),
  end: z.strictObject({ output_parameters: z.record(z.string(), z.unknown()).optional() }),
  condition: z.strictObject({ branches: z.array(branchSchema).min(1).max(100) }),
  delay: z.strictObject({
    delay_ms: z.union([wholeMs(LIMITS.delayMsMax, 0), templateFor("a number of milliseconds")]),
  }),
  javascript: z.strictObject({
    code: codeSchema,
    timeout_ms: timeoutSchema,
  }),
  http: z.strictObject({
    url: urlSchema,
    method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]).default("GET"),
    headers: headersSchema.optional(),
    query: z.record(z.string(), scalarSchema).optional(),
    body: z.unknown().optional(),
    timeout_ms: wholeMs(300_000).optional(),
    /** The promise about the call. It is idempotent by default, and `none` for GET and HEAD. */
    effect: z.enum(["idempotent", "at_most_once", "none"]).optional(),
    idempotency_key_header: headerNameSchema.optional(),
  }),
  approval: approvalConfig,
  await_signal: signalConfig,
  llm: llmSchema,
  agent: agentSchema,
  supervisor: supervisorSchema,
  map: mapSchema,
  loop: loopSchema,
  subworkflow: subworkflowSchema,
  dataQuery: dataQuerySchema,
  /** Writes keys of the run's memory. Values are any JSON, with templates. */
  remember: z.strictObject({
    values: z
      .record(memoryKeySchema, z.unknown())
      .refine(
        (values) => Object.keys(values).length > 0,
        rule("WRONG_TYPE", "needs at least one key"),
      ),
  }),
  /** Passes a value on without some of its labels, for a reason that the log keeps. */
  sanitize: z.strictObject({
    value: z.unknown().refine((value) => value !== undefined, rule("REQUIRED", "is required")),
    drop: labelsSchema,
    reason: z
      .string()
      .max(LIMITS.taintReasonLength)
      .refine((reason) => reason.trim() !== "", rule("REQUIRED", "say why the labels may go")),
    /** RE2. The value must be a text that contains it. */
    pattern: sanitizePattern.optional(),
  }),
  /** Completes at once. Tests and benchmarks use it. */
  noop: z.strictObject({}),
  /** Streams a fixed text in pieces: a deterministic demonstration of stream deltas. */
  text_stream: z.strictObject({
    text: z.string().max(LIMITS.templateBytes),
    chunk_chars: z.int().min(1).max(10_000).default(16),
    interval_ms: z.int().min(0).max(60_000).default(0),
  }),
} as const;

export type BuiltInType = keyof typeof NODE_CONFIGS;
/** The parsed config of a built-in type. */
export type NodeConfig<T extends BuiltInType> = z.output<(typeof NODE_CONFIGS)[T]>;

/** The types that do nothing outside of their run. The scheduler completes them itself, or opens their wait. */
const GLUE_TYPES = [
  "start",
  "end",
  "noop",
  "condition",
  "delay",
  "map",
  "loop",
  "remember",
  "sanitize",
  "await_signal",
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
  ((type === "condition" || type === "supervisor") && key === "when") ||
  (type === "loop" && key === "until") ||
  (type === "sanitize" && key !== "value" && SANITIZE_PLAIN.has(key));

/** Keys of a sanitize node that data cannot change. */
export const SANITIZE_PLAIN: ReadonlySet<string> = new Set(["drop", "reason", "pattern"]);
