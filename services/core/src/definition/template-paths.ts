// The paths that the templates of a raw node name, each with its place in the definition.

import { isRecord, type PathStep } from "../data/path.ts";
import { LOOP_ROOTS } from "../data/scope.ts";
import { compileTemplate } from "../data/template.ts";
import { toolsIn } from "./agent-tools.ts";
import { isTemplateFree } from "./node-types.ts";
import { violationPath } from "./violation.ts";

export interface TemplatePath {
  readonly at: string;
  readonly named: readonly PathStep[];
}

/** Every path in the config and the input of a node. The reader of the definition has bounded the depth. */
export function templatePaths(
  node: Readonly<Record<string, unknown>>,
  path: string,
): TemplatePath[] {
  const found: TemplatePath[] = [];
  const type = typeof node["type"] === "string" ? node["type"] : "";
  collect(node["input"], { at: `${path}.input`, key: "", type: "" }, found);
  const { config } = node;
  if (type === "agent" && isRecord(config)) {
    const { tools: _tools, ...own } = config;
    collect(own, { at: `${path}.config`, key: "", type }, found);
    for (const tool of toolsIn(config, `${path}.config`)) {
      const { type: kind, config: inner, input, configPath } = tool;
      collect(inner, { at: configPath, key: "", type: kind }, found);
      collect(input, { at: `${tool.path}.input`, key: "", type: "" }, found);
    }
    return found;
  }
  if (!isRecord(config) || (type !== "map" && type !== "loop")) {
    collect(config, { at: `${path}.config`, key: "", type }, found);
    return found;
  }
  const { body, ...own } = config;
  collect(own, { at: `${path}.config`, key: "", type }, found);
  if (isRecord(body)) found.push(...templatePaths(body, `${path}.config.body`));
  return found;
}

interface Spot {
  readonly at: string;
  readonly key: string;
  readonly type: string;
}

function collect(value: unknown, spot: Spot, found: TemplatePath[]): void {
  const { at, key, type } = spot;
  if (typeof value === "string") {
    if (!value.includes("{{") || isTemplateFree(type, key)) return;
    const compiled = compileTemplate(value, LOOP_ROOTS);
    if (!compiled.ok) return;
    for (const part of compiled.parts)
      if (typeof part !== "string") found.push({ at, named: part });
  } else if (Array.isArray(value))
    value.forEach((item: unknown, index) =>
      collect(item, { ...spot, at: `${at}[${index}]` }, found),
    );
  else if (isRecord(value))
    for (const [name, item] of Object.entries(value))
      collect(item, { at: violationPath([name], at), key: name, type }, found);
}
