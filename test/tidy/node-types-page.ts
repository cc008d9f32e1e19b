// services/executor/NODE-TYPES.md from the schemas of the node types and the words beside them: `npm run docs` writes it,
// node-types-page.test.ts compares.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { NODE_DOCS, NODE_KEYS, type NodeDoc } from "@pawl/core/definition/node-docs";
import { NODE_CONFIGS, type BuiltInType } from "@pawl/core/definition/node-types";
import { nodeSchema } from "@pawl/core/definition/schema";
import { z } from "zod";
import { ROOT } from "./sources.ts";

/** Where the page stands. */
export const PAGE = "services/executor/NODE-TYPES.md";

const HEAD = `# Node types

Every node type the executor serves out of the box. Made from the schemas by \`npm run docs\`; a test keeps it in step.

Templates are \`{{ ctx.input.… }}\` (the run's input), \`{{ ctx.nodes.<id>.… }}\` (a parent's output), \`{{ ctx.<variable>.… }}\` and
\`{{ input.<parameter> }}\`. Every node also has the handle \`error\`, by which it is left when it fails and an edge leads from there; what
comes out then is \`{error: {cause, message, details}}\`. Every node may fail with \`timeout\`, \`missing_variable\`, \`config_invalid\`,
\`output_too_large\`, \`input_contract_violation\`, \`output_contract_violation\`, \`moderation_blocked\` and \`moderation_unavailable\`; which causes a
policy may retry is in [the executor's README](README.md#failure-causes).
`;

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
  // As authors write it; what only code can say stays out. The cast narrows zod's own type to what is read here.
  z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Shape;

/** The whole page. */
export function nodeTypesPage(): string {
  const types = Object.keys(NODE_DOCS) as BuiltInType[];
  const contents = types.map((type) => `[${type}](#${type.toLowerCase()})`).join(" · ");
  const sections = types.map((type) => sectionOf(type, NODE_DOCS[type]));
  const common = `## Keys of every node\n\n${keyTable(shapeOf(nodeSchema), NODE_KEYS)}`;
  return [HEAD, `${contents}\n`, common, ...sections].join("\n");
}

function sectionOf(type: BuiltInType, doc: NodeDoc<BuiltInType>): string {
  const shape = shapeOf(NODE_CONFIGS[type]);
  const hasKeys = Object.keys(doc.config).length > 0;
  const causes = doc.causes.map((cause) => `\`${cause}\``).join(", ");
  return [
    `## ${type}\n\n${doc.purpose}\n`,
    hasKeys ? keyTable(shape, doc.config) : "It has no config.\n",
    `- **Inputs**: ${doc.inputs}`,
    `- **Output**: ${doc.output}`,
    `- **Handles**: ${doc.handles}`,
    `- **Events** of its own: ${doc.events}`,
    `- **Causes** of its own: ${causes === "" ? "None." : causes}\n`,
    `\`\`\`yaml\n${doc.example}\n\`\`\`\n`,
  ].join("\n");
}

function keyTable(shape: Shape, words: Readonly<Record<string, string>>): string {
  const rows = Object.entries(words).map(([key, meaning]) => {
    const property = shape.properties?.[key] ?? {};
    return [`\`${key}\``, typeText(property), presetOf(shape, key), meaning];
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

/** Columns as wide as their widest cell, the way the formatter leaves them. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = widths.map((width) => "-".repeat(width));
  const [top = [], ...rest] = cells;
  return `${[line(top), line(rule), ...rest.map(line)].join("\n")}\n`;
}

if (process.argv[1]?.endsWith("node-types-page.ts")) {
  writeFileSync(join(ROOT, PAGE), nodeTypesPage());
}
