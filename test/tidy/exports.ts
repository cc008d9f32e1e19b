// Finds exports that no other file imports. Such an export tells a reader that others depend on the name, and none does.
import { targetOf } from "./rooms.ts";
import type { Source } from "./sources.ts";
import { isSyntax, parse, stringOf, walk, type Syntax } from "./syntax.ts";

/** Every name of a module, or the one that is asked for. */
const ALL = "*";

const nameOf = (node: unknown): string =>
  isSyntax(node) && typeof node["name"] === "string" ? node["name"] : "";
const listOf = (value: unknown): readonly Syntax[] =>
  Array.isArray(value) ? value.filter(isSyntax) : [];
const withoutEnding = (path: string): string => path.replace(/\.(ts|tsx|mts)$/, "");

/** The names that a file exports by declaration; what it passes on from other files does not count. */
function exportsOf(tree: Syntax): readonly string[] {
  return listOf(tree["body"]).flatMap((node) => {
    if (node.type !== "ExportNamedDeclaration" || isSyntax(node["source"])) return [];
    const { declaration } = node;
    if (!isSyntax(declaration))
      return listOf(node["specifiers"]).map((each) => nameOf(each["exported"]));
    if (declaration.type !== "VariableDeclaration") return [nameOf(declaration["id"])];
    return listOf(declaration["declarations"]).flatMap((each) => namesIn(each["id"]));
  });
}

/** The names that a pattern declares. */
function namesIn(pattern: unknown): readonly string[] {
  if (!isSyntax(pattern)) return [];
  if (pattern.type === "Identifier") return [nameOf(pattern)];
  return listOf(pattern["properties"]).flatMap((each) => namesIn(each["value"]));
}

/** What a file takes from other modules, as `module name`. */
function importsOf(path: string, tree: Syntax): readonly string[] {
  const found: string[] = [];
  walk(tree, (node) => {
    const specifier = stringOf(node["source"]);
    if (specifier === undefined) return;
    const module = withoutEnding(targetOf(path, specifier));
    const specifiers = listOf(node["specifiers"]);
    // `import * as x`, `export * from`, `import()` and `import type("x").Y` may use any name.
    const isWhole =
      !/^(Import|ExportNamed)Declaration$/.test(node.type) ||
      specifiers.some(({ type }) => type === "ImportNamespaceSpecifier");
    if (isWhole) found.push(`${module} ${ALL}`);
    for (const each of specifiers) {
      const taken = each.type === "ExportSpecifier" ? each["local"] : each["imported"];
      found.push(`${module} ${nameOf(taken)}`);
    }
  });
  return found;
}

/** Exports of `judged` that none of the files imports, as `path: name`. */
export function needlessExports(
  all: readonly Source[],
  judged: (path: string) => boolean,
): string[] {
  const trees = all.map(({ path, text }) => ({ path, tree: parse({ path, text }) }));
  const taken = new Set(trees.flatMap(({ path, tree }) => importsOf(path, tree)));
  return trees
    .filter(({ path }) => judged(path))
    .flatMap(({ path, tree }) => {
      const module = withoutEnding(path);
      if (taken.has(`${module} ${ALL}`)) return [];
      const needless = exportsOf(tree).filter((name) => !taken.has(`${module} ${name}`));
      return needless.map((name) => `${path}: ${name}`);
    });
}
