// `{{ ctx.… }}` templates: paths only, no calls and no operators. A text that is a single template keeps the type of the value. A mixed
// text gives a string. `\{{` means the two braces themselves.

import type { Cause } from "../fault/cause.ts";
import { refused, type Refused } from "../fault/refused.ts";
import { LIMITS } from "./limits.ts";
import { isRecord, lookup, parsePath, pathText, type PathStep } from "./path.ts";
import { NODE_ROOTS, rootsOf, type Scope } from "./scope.ts";
import { exceedsUtf8 } from "./utf8.ts";

/** Literal pieces and paths, in order. */
type Parts = readonly (string | readonly PathStep[])[];

type TemplateFault = "TEMPLATE_SYNTAX" | "RESERVED_KEY" | "TEMPLATE_TOO_LARGE";
type CompiledTemplate = { readonly ok: true; readonly parts: Parts } | Refused<TemplateFault>;

export type Rendered =
  | { readonly ok: true; readonly value: unknown }
  /** `path` is the path without a value, or "". */
  | (Refused<"missing_variable" | "output_too_large" | TemplateFault> & { readonly path: string });

interface RenderOptions {
  /** A missing value becomes '' instead of a failure. */
  readonly substituteDefault?: boolean;
  /** How large all texts together may grow. LIMITS.templateOutputBytes by default. */
  readonly outputBytes?: number;
}

/** Compiles one text, whose paths begin with one of `roots`. A text without templates compiles too. */
export function compileTemplate(
  text: string,
  roots: ReadonlySet<string> = NODE_ROOTS,
): CompiledTemplate {
  if (!text.includes("{{")) return { ok: true, parts: text === "" ? [] : [text] };
  if (exceedsUtf8(text, LIMITS.templateBytes))
    return refused("TEMPLATE_TOO_LARGE", `a template is at most ${LIMITS.templateBytes} bytes`);
  const parts: Parts[number][] = [];
  let literal = "";
  let holes = 0;
  let at = 0;
  for (;;) {
    const open = text.indexOf("{{", at);
    if (open < 0) break;
    if (text[open - 1] === "\\") {
      literal += `${text.slice(at, open - 1)}{{`;
      at = open + 2;
      continue;
    }
    literal += text.slice(at, open);
    const close = text.indexOf("}}", open + 2);
    if (close < 0) return refused("TEMPLATE_SYNTAX", "{{ is not closed by }}");
    if (++holes > LIMITS.templateHoles)
      return refused("TEMPLATE_TOO_LARGE", `a template has at most ${LIMITS.templateHoles} holes`);
    const parsed = parsePath(text.slice(open + 2, close).trim());
    if (!parsed.ok)
      return parsed.reason === "RESERVED_KEY"
        ? refused("RESERVED_KEY", "a template cannot name a prototype")
        : refused("TEMPLATE_SYNTAX", NO_PATH);
    if (!roots.has(String(parsed.path[0]))) {
      const names = [...roots].join(", ").replace(/, (?=\w+$)/, " or ");
      return refused("TEMPLATE_SYNTAX", `a template begins with ${names}`);
    }
    if (literal !== "") parts.push(literal);
    literal = "";
    parts.push(parsed.path);
    at = close + 2;
  }
  literal += text.slice(at);
  if (literal !== "") parts.push(literal);
  return { ok: true, parts };
}

const NO_PATH = "write a path between {{ and }}, such as ctx.nodes.fetch.body[0]";

/** The part of a config that holds templates. `unrendered` names keys that hold another language. */
export const templatesOf = (
  config: Readonly<Record<string, unknown>>,
  unrendered: readonly string[] = [],
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(config).filter(
      ([key, value]) => !unrendered.includes(key) && hasTemplate(value),
    ),
  );

/** Whether any text inside holds a template or an escaped one. The depth of definitions is bounded. */
function hasTemplate(value: unknown): boolean {
  if (typeof value === "string") return value.includes("{{");
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(hasTemplate);
}

/**
 * Renders every text inside `value` (any JSON, at most LIMITS.jsonDepth deep). All texts together may grow to `outputBytes`. The
 * first failure ends the rendering.
 */
export function render(value: unknown, scope: Scope, options: RenderOptions = {}): Rendered {
  const { outputBytes = LIMITS.templateOutputBytes } = options;
  const run: Run = { scope, options, outputBytes, roots: rootsOf(scope), room: outputBytes };
  return renderValue(value, run);
}

interface Run {
  readonly scope: Scope;
  readonly options: RenderOptions;
  readonly outputBytes: number;
  readonly roots: ReadonlySet<string>;
  room: number;
}

function renderValue(value: unknown, run: Run): Rendered {
  if (typeof value === "string") return renderText(value, run);
  if (typeof value !== "object" || value === null) return { ok: true, value };
  const entries: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    const rendered = renderValue(item, run);
    if (!rendered.ok) return rendered;
    entries.push([key, rendered.value]);
  }
  const isList = Array.isArray(value);
  return {
    ok: true,
    value: isList ? entries.map(([, item]) => item) : Object.fromEntries(entries),
  };
}

function renderText(text: string, run: Run): Rendered {
  const compiled = compileTemplate(text, run.roots);
  if (!compiled.ok) return { ...compiled, path: "" };
  const { parts } = compiled;
  const lone = parts.length === 1 && typeof parts[0] !== "string";
  let joined = "";
  for (const part of parts) {
    const found =
      typeof part === "string" ? { found: true as const, value: part } : lookup(run.scope, part);
    if (!found.found && run.options.substituteDefault !== true) {
      const path = typeof part === "string" ? "" : pathText(part);
      return { ...refused("missing_variable", missingText(path, run.scope)), path };
    }
    const value = found.found ? found.value : "";
    const asText = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
    run.room -= asText.length;
    if (run.room < 0) {
      const message = `the texts made by templates are larger than ${run.outputBytes} bytes; pass less data`;
      return { ...refused("output_too_large", message), path: "" };
    }
    if (lone) return { ok: true, value };
    joined += asText;
  }
  return { ok: true, value: joined };
}

/** A failed rendering as the failure of its node. */
export function renderFailure({ reason, message, path }: Extract<Rendered, { ok: false }>) {
  const isMissing = reason === "missing_variable";
  const cause: Cause = isMissing || reason === "output_too_large" ? reason : "config_invalid";
  return { cause, message, details: isMissing ? { path } : { reason } };
}

/** A message for a path without a value. It names a node that is not a completed parent, which is the most common mistake. */
function missingText(path: string, scope: Pick<Scope, "ctx">): string {
  const [, nodeId] = /^ctx\.nodes\.([^.[]+)/.exec(path) ?? [];
  const { nodes } = scope.ctx;
  const isParent = nodeId === undefined || (isRecord(nodes) && Object.hasOwn(nodes, nodeId));
  return `${path} has no value${isParent ? "" : `: this node has no completed parent "${nodeId}"`}`;
}
