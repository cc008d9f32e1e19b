// The configs of `agent` and `supervisor`. `agent-tools.ts` makes the definitions of the tools; config-rules.ts checks their own configs.

import { z } from "zod";
import { compileCondition } from "../data/expression.ts";
import { LIMITS } from "../data/limits.ts";
import { conversationShape, hasOneBeginning, modelShape, ONE_BEGINNING } from "./model-config.ts";
import { nameSchema, nodeSchema, typeSchema } from "./schema.ts";
import { checkedText, rule } from "./zod-issue.ts";

/** The tool that writes keys of the run's memory. A definition names it without a config. */
export const SAVE_TO_MEMORY = "save_to_memory";
/** The route by which a supervisor ends, and the handle by which it leaves when it may not decide again. */
export const DONE = "done";
export const MAX_ITERATIONS = "max_iterations";

/** Providers accept these names of tools. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Types that cannot be a tool: they repeat, branch or belong to the graph itself. */
export const NO_TOOL: ReadonlySet<string> = new Set([
  ...["map", "loop", "agent", "supervisor", "start", "end", "condition"],
]);

const schemaSchema = z.record(z.string(), z.unknown());

const toolFields = z
  .strictObject({
    name: z
      .string()
      .refine(
        (name) => TOOL_NAME.test(name),
        rule("BAD_ID", "must be 1-64 of letters, digits, hyphen and underscore"),
      )
      .optional(),
    /** Tells the model what the tool does. */
    description: z.string().max(4_096).default(""),
    /** Exactly one of the three: any node type with its config, the config of an http node, or the id of a workflow. */
    type: typeSchema
      .refine(
        (type) => !NO_TOOL.has(type),
        rule("BAD_TOOL", `a tool cannot be one of ${[...NO_TOOL].join(", ")}; use a workflow`),
      )
      .optional(),
    http: schemaSchema.optional(),
    workflow: nameSchema.optional(),
    config: schemaSchema.optional(),
    /** The input of the handler, with templates. The arguments of the call by default. */
    input: z.unknown().optional(),
    /** JSON Schema of the arguments; by default that of the node type. */
    input_schema: schemaSchema.optional(),
    /** The schema that the node type published when the definition was saved. Pawl writes it. */
    published_schema: z.union([z.boolean(), schemaSchema]).optional(),
    ...nodeSchema.pick({ retry: true, timeout_ms: true }).shape,
    /** `return` gives the error of a failed call to the model, `fail` fails the agent. */
    on_error: z.enum(["return", "fail"]).default("return"),
  })
  .refine(
    ({ type, http, workflow }) =>
      [type, http, workflow].filter((one) => one !== undefined).length === 1,
    rule("BAD_TOOL", "a tool needs exactly one of type, http and workflow"),
  )
  .refine(
    ({ name, workflow }) => name !== undefined || workflow !== undefined,
    rule("BAD_TOOL", "a tool needs a name, by which the model calls it"),
  )
  .refine(
    ({ type, config }) => type !== undefined || config === undefined,
    rule("BAD_TOOL", "only a tool with a type has a config"),
  );

/** The name of a tool without further settings stands for the whole tool. */
export const fullTool = (raw: unknown): unknown =>
  raw === SAVE_TO_MEMORY ? { name: SAVE_TO_MEMORY, type: SAVE_TO_MEMORY } : raw;

const toolSchema = z.preprocess(fullTool, toolFields);
export type RawTool = z.output<typeof toolFields>;

/** A model that calls tools until it has its answer. */
export const agentSchema = z
  .strictObject({
    ...conversationShape,
    tools: z.array(toolSchema).max(LIMITS.agentTools).default([]),
    max_turns: z.int().min(1).max(LIMITS.agentTurnsMax).default(LIMITS.agentTurns),
  })
  .refine(hasOneBeginning, ONE_BEGINNING);

const whenSchema = checkedText((text) => {
  const compiled = compileCondition(text);
  return compiled.ok ? undefined : compiled;
});

const RESERVED_ROUTES: ReadonlySet<string> = new Set(["error", MAX_ITERATIONS]);

const routeSchema = z.strictObject({
  id: nameSchema.refine(
    (id) => !RESERVED_ROUTES.has(id),
    rule("RESERVED_KEY", "is a handle of its own; choose another id"),
  ),
  /** CEL over ctx and input: if it holds, the supervisor takes this route without a model. */
  when: whenSchema.optional(),
  /** Tells the model when to take this route. */
  description: z.string().max(4_096).optional(),
});

/** Chooses the next node by rules, then by a model, until it is done. */
export const supervisorSchema = z
  .strictObject({
    routes: z.array(routeSchema).min(1).max(100),
    ...modelShape,
    model: modelShape.model.optional(),
    max_iterations: z.int().min(1).max(LIMITS.iterationsMax).default(LIMITS.supervisorDecisions),
  })
  .refine(
    ({ model, prompt }) => (model === undefined) === (prompt === undefined),
    rule("WRONG_TYPE", "a model needs a prompt, and a prompt needs a model"),
  )
  .refine(
    ({ model, routes }) => model !== undefined || routes.every(({ when }) => when !== undefined),
    rule("BAD_ROUTE", "without a model every route needs a when"),
  );

/** The answer to a model that calls a tool which the agent does not have. */
export const unknownTool = (name: string, names: readonly string[]): string =>
  `there is no tool ${JSON.stringify(name.slice(0, 64))}; the tools are ${names.join(", ") || "none"}`;
