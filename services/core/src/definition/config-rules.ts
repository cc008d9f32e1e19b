// Rules inside one node's config: the schema of a built-in type, and the syntax of every template in it.

import { isRecord } from "../data/path.ts";
import { compileTemplate } from "../data/template.ts";
import type { Outline } from "./graph-rules.ts";
import { isBuiltIn, isTemplateFree, NODE_CONFIGS } from "./node-types.ts";
import { excerpt, violationPath, type Report } from "./violation.ts";
import { reportIssues } from "./zod-issue.ts";

/** Reports every rule the configs break. */
export function checkConfigs(outline: Outline, report: Report): void {
  outline.nodes.forEach((node, index) => {
    const path = `nodes[${index}].config`;
    const type = node.type ?? "";
    const config = node.config ?? {};
    if (!isRecord(config)) return;
    if (isBuiltIn(type)) {
      const parsed = NODE_CONFIGS[type].safeParse(config);
      if (!parsed.success) reportIssues(parsed.error.issues, report, () => node.id ?? "", path);
    }
    if (type === "condition") checkBranches(config, path, node.id ?? "", report);
    checkTemplates({ value: config, path, key: "" }, type, node.id ?? "", report);
  });
}

function checkBranches(
  config: Readonly<Record<string, unknown>>,
  path: string,
  nodeId: string,
  report: Report,
): void {
  const branches = config["branches"];
  if (!Array.isArray(branches)) return;
  const seen = new Set<unknown>();
  branches.forEach((branch: unknown, index) => {
    const id = isRecord(branch) ? branch["id"] : undefined;
    if (typeof id !== "string") return;
    if (seen.has(id)) {
      const message = `branch ${excerpt(id)} occurs twice`;
      report(`${path}.branches[${index}].id`, "DUPLICATE_ID", message, nodeId);
    }
    seen.add(id);
  });
}

interface Spot {
  readonly value: unknown;
  readonly path: string;
  readonly key: string;
}

/** Checks every text; depth was bounded when the definition was read. */
function checkTemplates(spot: Spot, type: string, nodeId: string, report: Report): void {
  const { value, path, key } = spot;
  if (typeof value === "string") {
    if (isTemplateFree(type, key)) return;
    const compiled = compileTemplate(value);
    if (!compiled.ok) report(path, compiled.reason, compiled.message, nodeId);
  } else if (Array.isArray(value)) {
    value.forEach((item: unknown, index) =>
      checkTemplates({ value: item, path: `${path}[${index}]`, key }, type, nodeId, report),
    );
  } else if (isRecord(value)) {
    for (const [name, item] of Object.entries(value))
      checkTemplates(
        { value: item, path: violationPath([name], path), key: name },
        type,
        nodeId,
        report,
      );
  }
}
