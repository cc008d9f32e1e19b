// Rules inside one node's config: the schema of a built-in type, and the syntax of every template in it.

import { isRecord } from "../data/path.ts";
import { LOOP_ROOTS, MAP_ROOTS, NODE_ROOTS, TOOL_ROOTS } from "../data/scope.ts";
import { compileTemplate } from "../data/template.ts";
import { NO_TOOL } from "./agent-config.ts";
import { toolsIn } from "./agent-tools.ts";
import type { Outline } from "./graph-rules.ts";
import { isBuiltIn, isTemplateFree, NODE_CONFIGS } from "./node-types.ts";
import { AWAIT_SIGNAL } from "./signal-config.ts";
import { excerpt, violationPath, type Report } from "./violation.ts";
import { reportIssues } from "./zod-issue.ts";

/** Reports every rule the configs break. */
export function checkConfigs(outline: Outline, report: Report): void {
  outline.nodes.forEach((node, index) => {
    const { type = "", config = {}, id = "" } = node;
    const path = `nodes[${index}].config`;
    if (isRecord(config))
      checkConfig({ type, path, nodeId: id, roots: NODE_ROOTS }, config, report);
    checkKeys(node.limits, `nodes[${index}].`, { roots: keyRoots(type), nodeId: id }, report);
  });
  checkKeys(outline.limits, "", { roots: NODE_ROOTS, nodeId: "" }, report);
}

/** The limits of a map or a loop apply to its iterations, so their keys see the variables of an iteration. */
function keyRoots(type: string): ReadonlySet<string> {
  if (type === "map") return MAP_ROOTS;
  return type === "loop" ? LOOP_ROOTS : NODE_ROOTS;
}

function checkKeys(
  limits: Outline["limits"],
  prefix: string,
  { roots, nodeId }: Pick<Owner, "roots" | "nodeId">,
  report: Report,
): void {
  for (const [name, key] of Object.entries(limits)) {
    const compiled = key === undefined ? undefined : compileTemplate(key, roots);
    if (compiled?.ok === false)
      report(`${prefix}${name}.key`, compiled.reason, compiled.message, nodeId);
  }
}

interface Owner {
  readonly type: string;
  readonly path: string;
  readonly nodeId: string;
  /** The roots of templates here. */
  readonly roots: ReadonlySet<string>;
}

type Config = Readonly<Record<string, unknown>>;

/** Reports every rule that the config of one type breaks. */
export function checkConfig(owner: Owner, config: Config, report: Report): void {
  const { type, path, nodeId } = owner;
  if (isBuiltIn(type)) {
    const parsed = NODE_CONFIGS[type].safeParse(config);
    if (!parsed.success) reportIssues(parsed.error.issues, report, () => nodeId, path);
  }
  if (type === "condition") checkBranches(config, path, nodeId, report);
  if (type === "approval" || type === AWAIT_SIGNAL) {
    // A schema and a default hold no templates.
    const { response_schema: _response, schema: _payload, default: _default, ...own } = config;
    checkTemplates({ value: own, path, key: "" }, owner, report);
    return;
  }
  if (type === "supervisor") checkRoutes(config, path, nodeId, report);
  if (type === "agent") {
    const { tools: _tools, ...own } = config;
    checkTemplates({ value: own, path, key: "" }, owner, report);
    checkTools(owner, config, report);
    return;
  }
  if (type !== "map" && type !== "loop") {
    checkTemplates({ value: config, path, key: "" }, owner, report);
    return;
  }
  const { body, ...own } = config;
  checkTemplates({ value: own, path, key: "" }, owner, report);
  if (isRecord(body)) checkBody(owner, body, report);
}

/** The config of a body belongs to the type of the body. Its templates also see the item. */
function checkBody(owner: Owner, body: Config, report: Report): void {
  const { type, config = {} } = body;
  // The schema already refuses a map or a loop as body. A check inside it would report the same fault twice.
  if (typeof type !== "string" || !isRecord(config) || type === "map" || type === "loop") return;
  const roots = owner.type === "loop" ? LOOP_ROOTS : MAP_ROOTS;
  checkConfig({ ...owner, type, roots, path: `${owner.path}.body.config` }, config, report);
}

/** The config of a tool belongs to the tool's own type. Its templates see the arguments of a call as `ctx.item`. */
function checkTools(owner: Owner, config: Config, report: Report): void {
  const { nodeId } = owner;
  const tools = toolsIn(config, owner.path);
  const twice = repeatedOf(tools.map(({ name }) => name));
  tools.forEach((tool, index) => {
    const { type, path, configPath, name, raw, isTyped } = tool;
    if (twice.has(index) && name !== "") {
      const message = `the tool ${excerpt(name)} is there twice; choose another name`;
      report(`${path}.name`, "DUPLICATE_ID", message, nodeId);
    }
    // The schema already refuses such a type. A check inside it would report the same fault twice.
    if ((isTyped && !NO_TOOL.has(type)) || "http" in raw)
      checkConfig({ type, path: configPath, nodeId, roots: TOOL_ROOTS }, tool.config, report);
    checkTemplates(
      { value: raw["input"], path: `${path}.input`, key: "" },
      { type: "", nodeId, roots: TOOL_ROOTS },
      report,
    );
    if (type === "approval" && ("response_schema" in tool.config || "default" in tool.config)) {
      const message =
        "an approval that a model calls takes any response; remove response_schema and default";
      report(configPath, "BAD_TOOL", message, nodeId);
    }
  });
}

/** The places of names that an earlier place has too. */
function repeatedOf(names: readonly unknown[]): ReadonlySet<number> {
  return new Set(names.flatMap((name, at) => (names.indexOf(name) < at ? [at] : [])));
}

const idOf = (value: unknown): unknown => (isRecord(value) ? value["id"] : undefined);

function checkIds(list: unknown, path: string, what: string, nodeId: string, report: Report): void {
  if (!Array.isArray(list)) return;
  const ids = list.map(idOf);
  for (const at of repeatedOf(ids)) {
    const id = ids[at];
    if (typeof id !== "string") continue;
    const message = `${what} ${excerpt(id)} is used twice; choose another id`;
    report(`${path}[${at}].id`, "DUPLICATE_ID", message, nodeId);
  }
}

const checkBranches = (config: Config, path: string, nodeId: string, report: Report): void =>
  checkIds(config["branches"], `${path}.branches`, "branch", nodeId, report);

const checkRoutes = (config: Config, path: string, nodeId: string, report: Report): void =>
  checkIds(config["routes"], `${path}.routes`, "route", nodeId, report);

interface Spot {
  readonly value: unknown;
  readonly path: string;
  readonly key: string;
}

/** Checks every text. The reader of the definition has bounded the depth. */
export function checkTemplates(
  spot: Spot,
  owner: Pick<Owner, "type" | "nodeId" | "roots">,
  report: Report,
): void {
  const { value, path, key } = spot;
  if (typeof value === "string") {
    if (isTemplateFree(owner.type, key)) return;
    const compiled = compileTemplate(value, owner.roots);
    if (!compiled.ok) report(path, compiled.reason, compiled.message, owner.nodeId);
  } else if (Array.isArray(value)) {
    value.forEach((item: unknown, index) =>
      checkTemplates({ value: item, path: `${path}[${index}]`, key }, owner, report),
    );
  } else if (isRecord(value)) {
    for (const [name, item] of Object.entries(value))
      checkTemplates({ value: item, path: violationPath([name], path), key: name }, owner, report);
  }
}
