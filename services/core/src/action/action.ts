// Actions: what a handler asks the engine to do beside its output. They commit with the output, in one transaction. An action is plain
// data, and JSON inside it is text, so it keeps its spelling. An empty text and 0 mean that the handler gave nothing.

import { z } from "zod";
import { checkJson, VALUE_LIMITS } from "../data/json.ts";
import { LIMITS } from "../data/limits.ts";
import { MERGE_STRATEGIES } from "../data/merge.ts";
import { isRecord } from "../data/path.ts";
import type { JsonLimits } from "../data/scan-json.ts";
import { utf8Bytes } from "../data/utf8.ts";
import type { Cause } from "../fault/cause.ts";
import { isName, isUuid } from "../name/ids.ts";
import { isMemoryKey, MEMORY_KEY_RULE } from "../name/memory-key.ts";
import type { Action, ActionOf, ActionType } from "./kinds.ts";

const name = z.string().refine(isName, "is not a name");
const optionalName = z.union([z.literal(""), name]);
const text = z.string().max(LIMITS.approvalMessageLength);
const memoryKey = z.string().refine(isMemoryKey, `is ${MEMORY_KEY_RULE}`);
const json = z.string();

/** Exactly one of two fields has a value. */
const oneOf =
  <A extends string, B extends string>(a: A, b: B) =>
  (value: Readonly<Record<A | B, string | readonly string[]>>): boolean =>
    (value[a].length === 0) !== (value[b].length === 0);

const SCHEMAS = {
  update_memory: z.object({ type: z.literal("update_memory"), valuesJson: json }),
  set_status: z.object({
    type: z.literal("set_status"),
    status: z.string(),
    message: text,
    outputJson: json,
  }),
  goto_node: z.object({ type: z.literal("goto_node"), node: name, reason: text }),
  handoff: z
    .object({
      type: z.literal("handoff"),
      node: optionalName,
      workflow: optionalName,
      version: z.int().min(0).max(2_147_483_647),
      inputJson: json,
      reason: text,
    })
    .refine(oneOf("node", "workflow"), "needs either a node or a workflow")
    .refine(
      ({ node: to, version, inputJson }) => to === "" || (version === 0 && inputJson === ""),
      "to a node takes no input and no version: the node reads the output of this one",
    ),
  request_human_input: z.object({
    type: z.literal("request_human_input"),
    message: text.min(1),
    detailsJson: json,
    assignees: z.array(z.string().min(1).max(LIMITS.labelLength)).max(LIMITS.approvalAssignees),
    deadlineMs: z.int().min(0).max(LIMITS.approvalDeadlineMsMax),
  }),
  resume_from_human: z
    .object({
      type: z.literal("resume_from_human"),
      node: optionalName,
      iteration: z.int().min(0),
      approvalId: z.union([
        z.literal(""),
        z.string().refine(isUuid, "is not the id of an approval"),
      ]),
      decision: z.enum(["approve", "reject"]),
      responseJson: json,
      comment: text,
    })
    .refine(oneOf("node", "approvalId"), "needs either a node or an approval id"),
  merge_parallel_results: z
    .object({
      type: z.literal("merge_parallel_results"),
      keys: z.array(memoryKey).max(LIMITS.memoryKeys),
      nodes: z.array(name).max(LIMITS.memoryKeys),
      into: memoryKey,
      strategy: z.enum(MERGE_STRATEGIES),
    })
    .refine(oneOf("keys", "nodes"), "needs either keys or nodes"),
} as const satisfies { readonly [T in ActionType]: z.ZodType<ActionOf<T>> };

/** Every action that a handler may send. */
export const ACTION_TYPES = Object.keys(SCHEMAS) as readonly ActionType[];

/**
 * The actions that cannot come together in one outcome. Each of the first four decides what follows the node, so an outcome has at
 * most one of them, once. An answer to a person's question does not go with an end of the run or with a node that waits itself.
 */
const EXCLUDES: Readonly<Partial<Record<ActionType, readonly ActionType[]>>> = {
  set_status: ["set_status", "goto_node", "handoff", "request_human_input"],
  goto_node: ["goto_node", "handoff", "request_human_input"],
  handoff: ["handoff", "request_human_input"],
  request_human_input: ["request_human_input"],
  resume_from_human: ["resume_from_human", "set_status", "handoff", "request_human_input"],
};

/** The fields that hold JSON, and what the field of an action must be. */
const JSON_FIELDS = [
  "valuesJson",
  "outputJson",
  "inputJson",
  "detailsJson",
  "responseJson",
] as const;

export type ActionFault = { readonly ok: false; readonly cause: Cause; readonly message: string };
type ParsedActions = { readonly ok: true; readonly actions: readonly Action[] } | ActionFault;

/** A refusal of actions. */
export const refusedAction = (message: string, cause: Cause = "action_invalid"): ActionFault => ({
  ok: false,
  cause,
  message,
});

/** Parses the actions of one outcome: all of them, or the first fault. `limits` are those of all their JSON together. Never throws. */
export function parseActions(
  raw: readonly unknown[],
  limits: JsonLimits = VALUE_LIMITS,
): ParsedActions {
  if (raw.length > LIMITS.actions)
    return refusedAction(`${raw.length} actions; an outcome has at most ${LIMITS.actions}`);
  const actions: Action[] = [];
  let bytes = 0;
  for (const each of raw) {
    const parsed = parseAction(each, limits);
    if (!("type" in parsed)) return parsed;
    const twin = actions.find(({ type }) => excludes(type, parsed.type));
    if (twin !== undefined) {
      const pair =
        twin.type === parsed.type ? `two ${parsed.type}` : `${twin.type} and ${parsed.type}`;
      return refusedAction(`${pair} cannot come together; send one of them`);
    }
    bytes += jsonTexts(parsed).reduce((sum, [, one]) => sum + utf8Bytes(one), 0);
    actions.push(parsed);
  }
  if (bytes > limits.bytes)
    return refusedAction(
      `the actions take ${bytes} bytes; at most ${limits.bytes} bytes`,
      "memory_too_large",
    );
  return { ok: true, actions };
}

const excludes = (a: ActionType, b: ActionType): boolean =>
  EXCLUDES[a]?.includes(b) === true || EXCLUDES[b]?.includes(a) === true;

function parseAction(raw: unknown, limits: JsonLimits): Action | ActionFault {
  const type = isRecord(raw) && typeof raw["type"] === "string" ? raw["type"] : "";
  if (type.startsWith("_"))
    return refusedAction(
      `the action ${shown(type)} is the engine's own; a handler may send ${ACTION_TYPES.join(", ")}`,
    );
  if (!isActionType(type))
    return refusedAction(`unknown action ${shown(type)}; known are ${ACTION_TYPES.join(", ")}`);
  const parsed = SCHEMAS[type].safeParse(raw);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join(".") ?? "";
    return refusedAction(`${type}${field === "" ? "" : `.${field}`} ${issue?.message ?? ""}`);
  }
  for (const [field, one] of jsonTexts(parsed.data)) {
    const fault = jsonFault(type, field, one, limits);
    if (fault !== undefined) return fault;
  }
  return parsed.data;
}

const isActionType = (type: string): type is ActionType => Object.hasOwn(SCHEMAS, type);

const shown = (type: string): string => JSON.stringify(type.slice(0, 64).toWellFormed());

/** The JSON texts of an action that has any. */
function jsonTexts(action: Action): (readonly [string, string])[] {
  const fields: Readonly<Record<string, unknown>> = action;
  return JSON_FIELDS.flatMap((field) => {
    const one = fields[field];
    return typeof one === "string" && one !== "" ? [[field, one] as const] : [];
  });
}

function jsonFault(
  type: ActionType,
  field: string,
  one: string,
  limits: JsonLimits,
): ActionFault | undefined {
  const what = `${type}.${field.replace("Json", "")}`;
  const checked = checkJson(one, limits);
  if (!checked.ok) {
    const cause = checked.reason === "TOO_LARGE" ? "memory_too_large" : "action_invalid";
    return refusedAction(`${what} cannot be stored: ${checked.reason}: ${checked.message}`, cause);
  }
  if (type !== "update_memory") return undefined;
  if (!isRecord(checked.value)) return refusedAction(`${what} is not an object`);
  const wrong = Object.keys(checked.value).find((key) => !isMemoryKey(key));
  return wrong === undefined
    ? undefined
    : refusedAction(
        `${what}: ${shown(wrong)} is no key of the memory; a key is ${MEMORY_KEY_RULE}`,
      );
}
