// The sections of docs/reference/node-types.md, from the schemas of the node types and the words beside them.
import { NODE_DOCS, NODE_KEYS, type NodeDoc } from "@pawl/core/definition/node-docs";
import { NODE_CONFIGS, type BuiltInType } from "@pawl/core/definition/node-types";
import { nodeSchema } from "@pawl/core/definition/schema";
import { z } from "zod";
import { code, table } from "./table.ts";

/** The part of JSON Schema that zod's shapes come out as. */
type Shape = {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Shape[];
  readonly items?: Shape;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
};

const shapeOf = (schema: z.ZodType): Shape =>
  // The schema as authors write it, without rules that only code can express. The cast narrows zod's type to the part read here.
  z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Shape;

const TYPES = Object.keys(NODE_DOCS) as BuiltInType[];

/** A link to the section of every type. */
export const nodeTypeLinks = (): string =>
  TYPES.map((type) => `[${type}](#${type.toLowerCase()})`).join(" · ");

/** The keys that a node of any type may have. */
export const nodeKeyTable = (): string => keyTable(shapeOf(nodeSchema), NODE_KEYS);

/** One section for every type. */
export const nodeTypeSections = (): string =>
  TYPES.map((type) => sectionOf(type, NODE_DOCS[type])).join("\n\n");

function sectionOf(type: BuiltInType, doc: NodeDoc<BuiltInType>): string {
  const shape = shapeOf(NODE_CONFIGS[type]);
  const hasKeys = Object.keys(doc.config).length > 0;
  const causes = doc.causes.map(code).join(", ");
  return [
    `### ${type}\n\n${doc.purpose}\n`,
    hasKeys ? `${keyTable(shape, doc.config)}\n` : "It has no config.\n",
    `- **Inputs**: ${doc.inputs}`,
    `- **Output**: ${doc.output}`,
    `- **Handles**: ${doc.handles ?? "Edges without a handle."}`,
    `- **Events** of its own: ${doc.events ?? "None."}`,
    `- **Causes** of its own: ${causes === "" ? "None." : causes}\n`,
    `\`\`\`yaml\n${doc.example}\n\`\`\``,
  ].join("\n");
}

function keyTable(shape: Shape, words: Readonly<Record<string, string>>): string {
  const rows = Object.entries(words).map(([key, meaning]) => {
    const property = shape.properties?.[key] ?? {};
    return [code(key), typeText(property), presetOf(shape, key), meaning];
  });
  return table(["key", "type", "default", "meaning"], rows);
}

function presetOf({ properties, required = [] }: Shape, key: string): string {
  const preset = properties?.[key]?.default;
  if (preset !== undefined) return `\`${JSON.stringify(preset)}\``;
  return required.includes(key) ? "required" : "";
}

function typeText(shape: Shape): string {
  if (shape.anyOf !== undefined) return [...new Set(shape.anyOf.map(typeText))].join(" or ");
  if (shape.enum !== undefined) return shape.enum.map((one) => `\`${String(one)}\``).join(", ");
  if (shape.type === "array")
    return shape.items?.type === undefined ? "list" : `list of ${typeText(shape.items)}s`;
  if (shape.type === undefined) return "any";
  if (typeof shape.type !== "string") return shape.type.join(" or ");
  const { minimum, maximum } = shape;
  const range = maximum === undefined ? "" : ` ${minimum ?? 0} to ${maximum}`;
  return `${shape.type}${range}`;
}
