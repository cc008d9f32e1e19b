// The definition as authors write it: snake_case keys, strict objects, bounds on every number. graph-rules.ts has the rules across
// nodes and edges; node-types.ts has the configs of the node types.

import { TERMINAL_EVENTS, WEBHOOK_EVENTS } from "../policy/webhook.ts";
import { z } from "zod";
import { LIMITS } from "../data/limits.ts";
import { MERGE_STRATEGIES } from "../data/merge.ts";
import { isReservedKey, parsePath } from "../data/path.ts";
import { RESERVED_VARIABLES } from "../data/scope.ts";
import { RETRY_CAUSES } from "../fault/cause.ts";
import { isName } from "../name/ids.ts";
import { isMemoryKey, MEMORY_KEY_RULE } from "../name/memory-key.ts";
import { ANY_LABEL, isTaintLabel, LABEL_RULE } from "../name/taint-label.ts";
import { isTypeName, TYPE_RULE } from "../name/type-name.ts";
import { COMPENSATED_ENDS } from "../policy/compensation.ts";
import { AMOUNT_MAX, microsOf, ON_EXCEEDED } from "../policy/budget.ts";
import { LIMIT_SCOPES } from "../policy/limit.ts";
import { MODERATION_ACTIONS, MODERATIONS } from "../policy/moderation.ts";
import { PARENT_FAILURE_POLICIES } from "../data/parent-failure.ts";
import { DEFAULT_RETRY, STANDARD_RETRY } from "../policy/retry.ts";
import { TAINT_ACTIONS } from "../policy/taint.ts";
import { checkedText, rule } from "./zod-issue.ts";

const NAME_RULE = "1-128 of letters, digits, dot, hyphen and underscore, not starting with . or _";
const VARIABLE = /^[A-Za-z][A-Za-z0-9_]{0,127}$/;

/** A name of a workflow, node, handle or branch. */
export const nameSchema = z.string().refine(isName, rule("BAD_ID", NAME_RULE));

/** A name of a node type. */
export const typeSchema = z.string().refine(isTypeName, rule("BAD_ID", TYPE_RULE));

const variableSchema = z
  .string()
  .refine(
    (name) => VARIABLE.test(name),
    rule("BAD_ID", "must be a letter, then letters, digits and _"),
  )
  .refine(
    (name) => !RESERVED_VARIABLES.has(name) && !isReservedKey(name),
    rule("RESERVED_KEY", "is already a name in ctx; choose another"),
  );

/** A key of the run's memory. */
export const memoryKeySchema = z
  .string()
  .refine(isMemoryKey, rule("BAD_MEMORY_KEY", `must be ${MEMORY_KEY_RULE}`));

const labelSchema = z.string().refine(isTaintLabel, rule("BAD_LABEL", `a label is ${LABEL_RULE}`));

/** Labels, or `*` for all of them. */
export const labelsSchema = z
  .array(z.union([z.literal(ANY_LABEL), labelSchema]))
  .min(1)
  .max(LIMITS.taintLabels);

const PATH_FAULTS = {
  RESERVED_KEY: "a path cannot name a prototype",
  PATH_SYNTAX: "`output` for the whole output, or a path into it such as body.items[0]",
} as const;
const outputKeySchema = checkedText((key) => {
  const parsed = parsePath(key);
  return parsed.ok ? undefined : { reason: parsed.reason, message: PATH_FAULTS[parsed.reason] };
}, z.string().max(512));

const NO_PROTOTYPE = rule("RESERVED_KEY", "a parameter cannot name a prototype");
const paramSchema = z
  .string()
  .min(1)
  .max(128)
  .refine((key) => !isReservedKey(key), NO_PROTOTYPE);

/** Whole milliseconds. */
export const wholeMs = (max: number, min = 1) => z.int().min(min).max(max);

const retrySchema = z.preprocess(
  (raw) =>
    raw === "standard"
      ? {
          attempts: STANDARD_RETRY.attempts,
          backoff_ms: STANDARD_RETRY.backoffMs,
          max_backoff_ms: STANDARD_RETRY.maxBackoffMs,
          jitter: false,
        }
      : raw,
  z.strictObject({
    attempts: z.int().min(1).max(LIMITS.attemptsMax).default(DEFAULT_RETRY.attempts),
    backoff_ms: wholeMs(LIMITS.backoffMsMax, 0).default(DEFAULT_RETRY.backoffMs),
    max_backoff_ms: wholeMs(LIMITS.backoffMsMax, 0).default(DEFAULT_RETRY.maxBackoffMs),
    retry_on: z
      .array(z.enum(RETRY_CAUSES))
      .max(RETRY_CAUSES.length)
      .default([...RETRY_CAUSES]),
    jitter: z.boolean().default(true),
  }),
);

const limitKeySchema = z.string().min(1).max(LIMITS.expressionBytes).optional();
const limitScopeSchema = z.enum(LIMIT_SCOPES).default("workflow");

/** At most `limit` at once for each value of the key; without a key, at most `limit` in all. */
const concurrencySchema = z
  .strictObject({
    key: limitKeySchema,
    limit: z.int().min(1).max(LIMITS.slotsMax),
    scope: limitScopeSchema,
  })
  .optional();

/** At most `limit` starts in any `per_ms` milliseconds for each value of the key. */
const rateSchema = z
  .strictObject({
    key: limitKeySchema,
    limit: z.int().min(1).max(LIMITS.rateMax),
    per_ms: wholeMs(LIMITS.ratePerMsMax),
    scope: limitScopeSchema,
  })
  .optional();

/** What undoes a node that completed: a node type, and the input of its handler. Checked in compensation-rules.ts. */
const compensationSchema = z.strictObject({
  type: typeSchema,
  config: z.record(z.string(), z.unknown()).default({}),
  /** Any JSON with templates over `ctx.output` and `ctx.input`; the output of the node if absent. */
  input: z.unknown().optional(),
  retry: retrySchema.optional(),
  timeout_ms: wholeMs(LIMITS.nodeTimeoutMsMax).default(LIMITS.nodeTimeoutMs),
});

const iterationsSchema = z.int().min(1).max(LIMITS.iterationsMax);

const amountSchema = z.int().min(1).max(AMOUNT_MAX).optional();

/** Dollars. The smallest amount is a micro-dollar. */
const dollarsSchema = z
  .number()
  .max(AMOUNT_MAX / 1e6)
  .refine((usd) => microsOf(usd) >= 1, rule("OUT_OF_RANGE", "must be at least 0.000001"))
  .optional();

const amountShape = { tokens: amountSchema, cost_usd: dollarsSchema };

/** How much a run may use. `wall_time_ms` is the deadline of the run. */
const runBudgetSchema = z
  .strictObject({
    ...amountShape,
    node_executions: amountSchema,
    wall_time_ms: wholeMs(LIMITS.runDeadlineMsMax).optional(),
    /** How much all runs of the workflow may use in a day. */
    per_day: z.strictObject({ ...amountShape, node_executions: amountSchema }).optional(),
    on_exceeded: z.enum(ON_EXCEEDED).optional(),
  })
  .optional();

export const nodeSchema = z.strictObject({
  id: nameSchema,
  type: typeSchema,
  label: z.string().max(LIMITS.labelLength).nullable().default(null),
  config: z.record(z.string(), z.unknown()).default({}),
  /** Any JSON with templates: the input of the handler. Checked in input-rules.ts, with the edges. */
  input: z.unknown().optional(),
  // Checked in graph-rules.ts, with the edges, because the number of parents matters.
  join: z.unknown().optional(),
  /** What happens to parents that are not done when an `any` or `n_of_m` join fires. */
  late: z.enum(["ignore", "cancel"]).optional(),
  retry: retrySchema.optional(),
  timeout_ms: wholeMs(LIMITS.nodeTimeoutMsMax).default(LIMITS.nodeTimeoutMs),
  on_parent_failure: z.enum(PARENT_FAILURE_POLICIES).default("propagate"),
  error_handling: z.enum(["continue", "fail_workflow", "fail_node"]).optional(),
  output_variable: variableSchema.nullable().default(null),
  /** The key of the run's memory that gets the output. */
  write_key: memoryKeySchema.nullable().default(null),
  /** The keys of the run's memory that the node gets; all of them if absent. */
  read_keys: z.array(memoryKeySchema).max(LIMITS.memoryKeys).optional(),
  merge: z.enum(MERGE_STRATEGIES).nullable().default(null),
  moderation: z.enum(MODERATIONS).default("none"),
  moderation_action: z.enum(MODERATION_ACTIONS).default("block"),
  // Checked in contract-rules.ts, with the path of every fault.
  contracts: z
    .strictObject({ input: z.unknown().optional(), output: z.unknown().optional() })
    .optional(),
  compensation: compensationSchema.optional(),
  concurrency: concurrencySchema,
  rate: rateSchema,
  /** Labels that its outputs get beside those of the data that it reads. */
  taint: z.array(labelSchema).min(1).max(LIMITS.taintLabels).optional(),
  /** How much all executions of the node may use in one run. */
  budget: z.strictObject({ ...amountShape, node_executions: amountSchema }).optional(),
  /** What one execution reserves of the budgets before it starts. */
  reserve: z.strictObject(amountShape).optional(),
  /** How often the node may run in one run. */
  max_iterations: iterationsSchema.optional(),
  /** Added to the run's priority; lower is sooner. */
  priority: z.int().min(-LIMITS.priorityMax).max(LIMITS.priorityMax).default(0),
  /** The position in an editor; Pawl ignores it. */
  position: z.strictObject({ x: z.number(), y: z.number() }).optional(),
});

const edgeSchema = z.strictObject({
  id: nameSchema.optional(),
  source: z.string(),
  target: z.string(),
  source_handle: nameSchema.nullable().default(null),
  source_output_key: outputKeySchema.default("output"),
  target_param_label: paramSchema.nullable().default(null),
  merge_strategy: z.enum(MERGE_STRATEGIES).nullable().default(null),
  /** The edge leads back: taking it runs the target, and the nodes behind it, again. */
  loop: z.boolean().default(false),
  /** How often a loop edge may be taken before its target is reached another way. */
  max_iterations: iterationsSchema.optional(),
});

/** A rule about labels. Checked in taint-rules.ts, with the nodes. */
const policySchema = z.strictObject({
  action: z.enum(TAINT_ACTIONS),
  nodes: z.array(z.string()).max(LIMITS.definitionNodes).default([]),
  types: z.array(z.string()).max(LIMITS.definitionNodes).default([]),
  if_tainted_by: labelsSchema,
  message: z.string().max(LIMITS.taintReasonLength).default(""),
});

/** A receiver of events. The scheduler also checks where its URL leads. */
const webhookSchema = z
  .strictObject({
    url: z.string().min(1).max(LIMITS.webhookUrlLength).optional(),
    /** The endpoint that signs the calls, and that is called if there is no URL. */
    endpoint: nameSchema.optional(),
    events: z
      .array(z.enum(WEBHOOK_EVENTS))
      .min(1)
      .default([...TERMINAL_EVENTS]),
  })
  .refine(({ url, endpoint }) => (url ?? endpoint) !== undefined, "needs a url or an endpoint");

export const definitionSchema = z.strictObject({
  id: nameSchema.nullable().default(null),
  title: z.string().max(LIMITS.labelLength).default(""),
  description: z.string().max(4_096).optional(),
  deadline_ms: wholeMs(LIMITS.runDeadlineMsMax).default(LIMITS.runDeadlineMs),
  /** How often a run may repeat: loop edges, gotos and handoffs together. */
  max_iterations: iterationsSchema.default(LIMITS.runIterations),
  /** How often an execution may be retried at most, whatever its policy. */
  max_retries: z
    .int()
    .min(0)
    .max(LIMITS.attemptsMax - 1)
    .optional(),
  /** What a run is for, and the rules that its nodes respect: `ctx.goal` and `ctx.constraints`. */
  goal: z.string().max(LIMITS.goalLength).default(""),
  constraints: z
    .array(z.string().min(1).max(LIMITS.constraintLength))
    .max(LIMITS.constraints)
    .default([]),
  /** How much a run may use. */
  budget: runBudgetSchema,
  concurrency: concurrencySchema,
  rate: rateSchema,
  /** The ends that undo completed nodes first. */
  compensate_on: z
    .array(z.enum(COMPENSATED_ENDS))
    .max(COMPENSATED_ENDS.length)
    .default([...COMPENSATED_ENDS]),
  compensation_timeout_ms: wholeMs(LIMITS.runDeadlineMsMax).default(LIMITS.compensationMs),
  /** JSON Schema of the input of a run. Checked in contract-rules.ts, with the path of every fault. */
  input_schema: z.unknown().optional(),
  /** How several writes of a key of the memory become one value. */
  memory: z
    .record(memoryKeySchema, z.strictObject({ merge: z.enum(MERGE_STRATEGIES) }))
    .default({}),
  /** Whether every input of a run has the label `input`. */
  untrusted_input: z.boolean().default(false),
  /** Which nodes may not read labelled data. */
  policies: z.array(policySchema).max(LIMITS.taintRules).default([]),
  /** The receivers of events of every run. */
  webhooks: z.array(webhookSchema).max(LIMITS.webhooks).default([]),
  nodes: z.array(nodeSchema),
  edges: z.array(edgeSchema).default([]),
});

export type RawDefinition = z.output<typeof definitionSchema>;
export type RawNode = RawDefinition["nodes"][number];
