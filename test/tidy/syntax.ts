// Reads TypeScript as a tree: the imports, declarations and calls of a file, without running it.
import { parseAst } from "vitest/node";
import type { Source } from "./sources.ts";

/** A node of the tree; only its type and place are certain. */
export type Syntax = {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
};

/** The place of a node in the tree. */
export type Place = { readonly parent: Syntax | undefined; readonly key: string };

let latest: { readonly source: Source; readonly tree: Syntax } | undefined;

/** The tree of a file. The latest one is kept: several rules look at one file, and a parse costs most of their time. */
export function parse(source: Source): Syntax {
  if (latest?.source === source) return latest.tree;
  const lang = source.path.endsWith(".tsx") ? "tsx" : "ts";
  // ESTree types differ per node; rules look at them by name, so one loose shape serves them all.
  const tree = parseAst(source.text, { lang }) as unknown as Syntax;
  latest = { source, tree };
  return tree;
}

/** Calls back for every node, parents first. */
export function walk(node: Syntax, visit: (node: Syntax, place: Place) => void): void {
  const step = (current: Syntax, place: Place): void => {
    visit(current, place);
    for (const key in current) {
      const value = current[key];
      if (Array.isArray(value)) {
        for (const child of value) if (isSyntax(child)) step(child, { parent: current, key });
      } else if (isSyntax(value)) step(value, { parent: current, key });
    }
  };
  step(node, { parent: undefined, key: "" });
}

/** Whether a value is a node. */
export function isSyntax(value: unknown): value is Syntax {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

/** The text of a string literal or of a template without holes. */
export function stringOf(value: unknown): string | undefined {
  if (!isSyntax(value)) return undefined;
  if (value.type === "Literal" && typeof value["value"] === "string") return value["value"];
  if (value.type !== "TemplateLiteral" || !Array.isArray(value["quasis"])) return undefined;
  const [only, ...more] = value["quasis"] as { value: { cooked: string } }[];
  return more.length === 0 ? only?.value.cooked : undefined;
}

const WITH_SOURCE = new Set([
  "ImportDeclaration",
  "ExportAllDeclaration",
  "ExportNamedDeclaration",
  "ImportExpression",
  "TSImportType",
]);

/** Every module a file names: static, type, re-export, dynamic, and in `vi.importActual` style calls none. */
export function importsOf(tree: Syntax): readonly string[] {
  const found: string[] = [];
  walk(tree, (node) => {
    if (!WITH_SOURCE.has(node.type)) return;
    const specifier = stringOf(node["source"]);
    if (specifier !== undefined) found.push(specifier);
    // A computed import cannot be judged, so it counts as one of everything.
    else if (node.type === "ImportExpression") found.push("*computed*");
  });
  return found;
}

/** Places where an identifier is a mere label of something else's member. */
function isLabel({ parent, key }: Place): boolean {
  if (parent === undefined) return false;
  const isComputed = parent["computed"] === true;
  if (parent.type === "MemberExpression") return key === "property" && !isComputed;
  if (key === "key" && !isComputed) return parent["shorthand"] !== true;
  return parent.type === "ImportSpecifier" || parent.type === "TSQualifiedName";
}

/** Names of the identifiers a file uses as values or types, with `a.b` for members of plain names. */
export function namesOf(tree: Syntax): ReadonlySet<string> {
  const names = new Set<string>();
  walk(tree, (node, place) => {
    if (node.type === "Identifier" && !isLabel(place)) names.add(String(node["name"]));
    if (node.type !== "MemberExpression" || node["computed"] === true) return;
    const { object, property } = node;
    if (isSyntax(object) && isSyntax(property) && object.type === "Identifier") {
      names.add(`${String(object["name"])}.${String(property["name"])}`);
    }
  });
  return names;
}

/** Line number of an offset, from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
