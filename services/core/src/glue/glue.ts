// Glue: the node types that do nothing outside of their run. Their result follows from config and context alone. So the scheduler completes
// them in the tick that makes them ready. An `await_signal` opens a wait in that tick. An executor that gets one completes it by the same
// function.

import { z } from "zod";
import { BoundedMap } from "../data/bounded-map.ts";
import { conditionOrFault } from "../data/expression.ts";
import { LIMITS } from "../data/limits.ts";
import { compilePattern } from "../data/pattern.ts";
import type { NodeContext, Scope } from "../data/scope.ts";
import type { Cause } from "../fault/cause.ts";
import { type GlueType, NODE_CONFIGS, SANITIZE_PLAIN } from "../definition/node-types.ts";
import { filledSignalConfig } from "../definition/signal-config.ts";

/** The result of a glue node. */
export type GlueResult =
  | {
      readonly output: unknown;
      /** The handle to leave by. */
      readonly handle?: string;
      /** How long the next nodes wait. */
      readonly queueDelayMs?: number;
    }
  /**
   * A map or a loop: its body runs once for each item. `cut` means that there are more items than may run, so the node fails after the last
   * one.
   */
  | { readonly expand: { readonly items: readonly unknown[]; readonly cut?: boolean } }
  /** The execution waits for a signal. */
  | { readonly wait: AskedSignal }
  | { readonly failed: GlueFailure };

/** A signal that an execution waits for. */
export interface AskedSignal {
  readonly name: string;
  /** How long the execution waits. Unlimited if absent. */
  readonly timeoutMs?: number;
}

/** A failure of a glue node is permanent: the same config and context would fail again. */
export interface GlueFailure {
  readonly cause: Cause;
  readonly message: string;
  readonly permanent: true;
}

/** The data that a glue node may read. */
interface GlueContext {
  /** Run input, parents' outputs, variables. */
  readonly context: NodeContext;
  /** The node's own parameters, resolved from its edges. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The variables of templates and conditions: `ctx` and `input`. */
  readonly scope: Scope;
}

/** A glue type. */
export interface Glue<Config> {
  /** Checks a config whose templates are filled in. */
  readonly config: z.ZodType<Config>;
  /** Keys of the config that hold another language and no templates. */
  readonly unrendered?: readonly string[];
  /** Whether `complete` reads its context itself. Otherwise only templates do. */
  readonly reads?: true;
  /**
   * How often its conditions and patterns may walk over its data, beside the first time. The config has templates in it, except in the keys
   * of `unrendered`.
   */
  readonly passes?: (config: Config) => number;
  readonly complete: (config: Config, ctx: GlueContext) => GlueResult;
}

const failed = (cause: Cause, message: string): GlueResult => ({
  failed: { cause, message, permanent: true },
});

const EXPRESSIONS_MAX = 1_000;

const conditions = new BoundedMap<string, ReturnType<typeof conditionOrFault>>(EXPRESSIONS_MAX);

/** The compiled condition of a branch, or its fault. */
const branchCondition = (when: string) => conditions.ensure(when, conditionOrFault);

/** Patterns of sanitize nodes, compiled. */
const patterns = new BoundedMap<string, ReturnType<typeof compilePattern>>(EXPRESSIONS_MAX);

/** A number, or the digits that a template in a longer text gives. */
const wholeNumber = (digits: number) =>
  z.union([
    z.number(),
    z
      .string()
      .regex(new RegExp(`^\\d{1,${digits}}$`))
      .transform(Number),
  ]);

/** The first node of a run. Its output is the run's input. */
const start: Glue<z.output<typeof NODE_CONFIGS.start>> = {
  config: NODE_CONFIGS.start,
  reads: true,
  complete: (_config, { context }) => ({
    output: { started: true, inputReceived: context.input },
  }),
};

/**
 * Collects the run's result from its output parameters, which are templates. Without any it uses its own parameters, otherwise the output
 * of its only parent, otherwise the outputs of its parents by node id.
 */
const end: Glue<z.output<typeof NODE_CONFIGS.end>> = {
  config: NODE_CONFIGS.end,
  reads: true,
  complete: ({ output_parameters: output }, { input, context: { nodes } }) => {
    if (output !== undefined) return { output };
    if (Object.keys(input).length > 0) return { output: input };
    const outputs = Object.values(nodes);
    return { output: outputs.length === 1 ? outputs[0] : nodes };
  },
};

/** Does nothing. Joins that only wait use it, and tests. */
const noop: Glue<z.output<typeof NODE_CONFIGS.noop>> = {
  config: NODE_CONFIGS.noop,
  complete: () => ({ output: {} }),
};

/** Leaves by the id of the first branch that holds, otherwise by `else`. */
const condition: Glue<z.output<typeof NODE_CONFIGS.condition>> = {
  config: NODE_CONFIGS.condition,
  unrendered: ["branches"],
  reads: true,
  passes: ({ branches }) =>
    branches.reduce((sum, { when }) => {
      const compiled = branchCondition(when);
      return sum + (typeof compiled === "string" ? 0 : compiled.passes);
    }, 0),
  complete: ({ branches }, { scope }) => {
    for (const { id, when } of branches) {
      const compiled = branchCondition(when);
      // The parser compiled the condition when the definition was saved. Only a definition of an older release can have a fault.
      if (typeof compiled === "string") return failed("config_invalid", compiled);
      const verdict = compiled.evaluate(scope);
      if (!verdict.ok) return failed(verdict.reason, `branch ${id}: ${verdict.message}`);
      if (verdict.value) return { output: { branch: id }, handle: id };
    }
    return { output: { branch: "else" }, handle: "else" };
  },
};

const delayConfig = z.strictObject({
  delay_ms: wholeNumber(12).pipe(z.int().min(0).max(LIMITS.delayMsMax)),
});

/** Completes at once and delays the next nodes. Each of them is a delayed job, so the delay survives every restart. */
const delay: Glue<z.output<typeof delayConfig>> = {
  config: delayConfig,
  complete: ({ delay_ms: delayMs }) => ({ output: { delayMs }, queueDelayMs: delayMs }),
};

// The definition's rules checked the rest of the config. Only the scheduler reads it.
const mapConfig = z.looseObject({ items: z.array(z.unknown()) });

/** Finds its items. The scheduler runs the body for each, some at a time, and joins their outputs. */
const map: Glue<z.output<typeof mapConfig>> = {
  config: mapConfig,
  unrendered: ["body"],
  complete: ({ items }) =>
    items.length > LIMITS.scopeWidth
      ? failed("too_many_items", `${items.length} items; at most ${LIMITS.scopeWidth}`)
      : { expand: { items } },
};

const loopConfig = z.looseObject({
  items: z.array(z.unknown()).optional(),
  times: wholeNumber(9).pipe(z.int().min(0)).optional(),
  until: z.string().optional(),
  max_iterations: z.int().min(1).max(LIMITS.scopeWidth).default(LIMITS.loopIterations),
});

/** Finds its items, or counts. The scheduler runs the body for one item after the other until they end or `until` holds. */
const loop: Glue<z.output<typeof loopConfig>> = {
  config: loopConfig,
  unrendered: ["body", "until"],
  complete: ({ items, times, until, max_iterations: max }) => {
    const wanted = items?.length ?? times ?? Infinity;
    const cut = wanted > max;
    // Without a condition nothing ends the loop earlier, so it fails before it does any work.
    if (cut && until === undefined)
      return failed("max_iterations", `${wanted} iterations; at most ${max}`);
    const width = Math.min(wanted, max);
    const own = items?.slice(0, width) ?? Array.from({ length: width }, (_, index) => index);
    return { expand: { items: own, cut } };
  },
};

/** Writes keys of the run's memory: the fold takes them from its output. */
const remember: Glue<z.output<typeof NODE_CONFIGS.remember>> = {
  config: NODE_CONFIGS.remember,
  complete: ({ values }) => ({ output: values }),
};

/** Passes its value on. The planner drops the labels that its config names. */
const sanitize: Glue<z.output<typeof NODE_CONFIGS.sanitize>> = {
  config: NODE_CONFIGS.sanitize,
  unrendered: [...SANITIZE_PLAIN],
  // A match costs a step for each instruction and character, and each template of the value may bring all data in.
  passes: ({ value, pattern }) => {
    const compiled = pattern === undefined ? undefined : patterns.ensure(pattern, compilePattern);
    const holes = JSON.stringify(value ?? null).split("{{").length - 1;
    return compiled?.ok === true ? compiled.pattern.size * Math.max(1, holes) : 0;
  },
  complete: ({ value, pattern }) => {
    if (pattern === undefined) return { output: value };
    const compiled = patterns.ensure(pattern, compilePattern);
    if (!compiled.ok) return failed("config_invalid", compiled.message);
    if (typeof value !== "string")
      return failed("sanitize_failed", "the value is not a text, and the node demands a pattern");
    if (value.length * compiled.pattern.size > LIMITS.patternSteps)
      return failed("sanitize_failed", "the value is too long for the pattern of the node");
    if (!compiled.pattern.test(value))
      return failed("sanitize_failed", "the value does not have the pattern of the node");
    return { output: value };
  },
};

/** Names the signal that it waits for. The scheduler knows the signals of the run, and opens the wait. */
const awaitSignal: Glue<z.output<typeof filledSignalConfig>> = {
  config: filledSignalConfig,
  unrendered: ["schema"],
  complete: ({ name, timeout_ms: timeoutMs }) => ({
    wait: { name, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
  }),
};

/** The glue types by name. */
export const GLUE = {
  ...{ start, end, noop, condition, delay, map, loop, remember, sanitize },
  await_signal: awaitSignal,
} as const satisfies Record<GlueType, unknown>;
