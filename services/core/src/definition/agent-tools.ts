// The tools of an agent, as authors write them and as the planner runs them. A call of a tool is an execution of the tool's own type. The
// arguments that the model wrote are its `ctx.item`, and the input of its handler unless the author wrote one.

import { isRecord } from "../data/path.ts";
import { fullTool, type RawTool, SAVE_TO_MEMORY } from "./agent-config.ts";
import type { KnownTypes } from "./known-types.ts";
import { isGlueType } from "./node-types.ts";

type Raw = Readonly<Record<string, unknown>>;

/** The arguments of a call. */
const ARGUMENTS = "{{ ctx.item }}";

/** A tool as a node: its type, config and input. */
interface ToolNode {
  readonly type: string;
  readonly config: Raw;
  readonly input?: unknown;
}

/** What a tool with valid fields runs. */
export function toolNode(
  tool: Pick<RawTool, "type" | "http" | "workflow" | "config" | "input">,
): ToolNode {
  const { type = "", http, workflow, config = {}, input = ARGUMENTS } = tool;
  if (http !== undefined) return { type: "http", config: http, input };
  if (workflow !== undefined)
    return { type: "subworkflow", config: { workflow_id: workflow, input } };
  if (type === SAVE_TO_MEMORY)
    return { type: "remember", config: { values: "{{ ctx.item.values }}" } };
  return isGlueType(type) ? { type, config } : { type, config, input };
}

/** The name by which the model calls a tool. */
export const toolName = ({ name, workflow = "" }: Pick<RawTool, "name" | "workflow">): string =>
  name ?? workflow.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);

const SAVE_SCHEMA = {
  type: "object",
  properties: {
    values: {
      type: "object",
      description: "The values to keep, by key. Keys are letters, digits and underscores.",
      minProperties: 1,
    },
  },
  required: ["values"],
  additionalProperties: false,
};
const SAVE_DESCRIPTION =
  "Saves values under keys in the memory of this run, for later steps. Writes several keys at once.";

/** A tool as the model sees it. */
export function declarationOf(tool: RawTool) {
  const { type, description, input_schema: own, published_schema: published } = tool;
  const isSave = type === SAVE_TO_MEMORY;
  const known = isRecord(published) ? published : isSave ? SAVE_SCHEMA : { type: "object" };
  return {
    name: toolName(tool),
    description: description === "" && isSave ? SAVE_DESCRIPTION : description,
    input_schema: own ?? known,
  };
}

/** A tool in a definition that may have faults. */
interface OutlineTool extends ToolNode {
  readonly raw: Raw;
  /** Its place in the definition, and that of its config. */
  readonly path: string;
  readonly configPath: string;
  /** The name, if it has one. */
  readonly name: string;
  /** Whether the author wrote the type. */
  readonly isTyped: boolean;
}

/** The tools of an agent, whatever their faults; `path` names its config. */
export function toolsIn(config: unknown, path: string): readonly OutlineTool[] {
  const tools: unknown = isRecord(config) ? config["tools"] : undefined;
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((each: unknown, index) => {
    const raw = fullTool(each);
    if (!isRecord(raw)) return [];
    const text = (key: string): string | undefined =>
      typeof raw[key] === "string" ? raw[key] : undefined;
    const { config: own, http, input } = raw;
    const node = toolNode({
      type: text("type"),
      workflow: text("workflow"),
      ...(isRecord(http) ? { http } : {}),
      ...(isRecord(own) ? { config: own } : {}),
      ...(input === undefined ? {} : { input }),
    });
    const at = `${path}.tools[${index}]`;
    const name = toolName({ name: text("name"), workflow: text("workflow") });
    const isTyped = text("type") !== undefined && text("type") !== SAVE_TO_MEMORY;
    const configPath = isTyped ? `${at}.config` : isRecord(http) ? `${at}.http` : at;
    return [{ ...node, raw, path: at, configPath, name, isTyped }];
  });
}

/**
 * The definition with the schemas that the types of tools publish, for tools that have none of their own. So the version of a workflow
 * keeps the schema that its model sees, whatever a handler publishes later.
 */
export function withPublishedSchemas(raw: unknown, { schemas }: KnownTypes): unknown {
  if (!isRecord(raw) || !Array.isArray(raw["nodes"])) return raw;
  if (!raw["nodes"].some((node: unknown) => isRecord(node) && node["type"] === "agent")) return raw;
  const filled = (each: unknown): unknown => {
    if (!isRecord(each) || typeof each["type"] !== "string" || "input_schema" in each) return each;
    const schema = schemas.get(each["type"])?.input ?? null;
    return schema === null ? each : { ...each, published_schema: schema };
  };
  const nodes = raw["nodes"].map((node: unknown) => {
    const config = isRecord(node) && node["type"] === "agent" ? node["config"] : undefined;
    if (!isRecord(node) || !isRecord(config) || !Array.isArray(config["tools"])) return node;
    return { ...node, config: { ...config, tools: config["tools"].map(filled) } };
  });
  return { ...raw, nodes };
}
