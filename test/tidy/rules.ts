// The rules of the house that a program can check. Each gives one line per breach: where, and what to do.
import { basename } from "node:path";
import type { Source } from "./sources.ts";
import { isSyntax, lineAt, parse, stringOf, walk } from "./syntax.ts";
import type { Place, Syntax } from "./syntax.ts";

const FILE_LINES_MAX = 300;
const FUNCTION_LINES_MAX = 70;
const PARAMETERS_MAX = 8;
const SQL_POSITIONS_MAX = 12;

/** Names that say nothing about what is inside. */
const EMPTY_NAMES = "utils helpers common misc manager base types index data info".split(" ");

// One letter of each word is in brackets, so that this file does not break its own rules.
const UNFINISHED = /\b(T[O]DO|FIXM[E]|XX[X])\b(?!\(#\d+\))/;
const MACHINE_PATH =
  /(?<![\w.-])\/(work\/(main|shared)|roo[t]\/|home\/[a-z]|Users\/[A-Za-z]|tmp\/pawl\/)/;
const REGISTRY_HOST = /registr[y]\.[a-z0-9-]+\.[a-z]|npmj[s]\.org|artifactor[y]|npmmirro[r]/i;

/** A file longer than a reader holds in mind. */
export function longFile({ path, text }: Source): string[] {
  if (LONG_FILES.has(path)) return [];
  const lines = text.trimEnd().split("\n").length;
  return lines > FILE_LINES_MAX ? [`${path}: ${lines} lines, at most ${FILE_LINES_MAX}`] : [];
}

const FUNCTIONS = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

/** Files that may be longer, because a split would only cut one idea in two. docs/contributing/style.md has them, with their reasons. */
export const LONG_FILES: ReadonlySet<string> = new Set([
  "services/gateway/src/watch/watch-run.test.ts",
]);

/** Functions that do not fit a screen. The body of a `describe` is a chapter, not a function. */
export function longFunctions(source: Source): string[] {
  const found: string[] = [];
  walk(parse(source), (node, place) => {
    if (!FUNCTIONS.test(node.type) || isCallbackOf(place, "describe")) return;
    const first = lineAt(source.text, node.start);
    const lines = lineAt(source.text, node.end) - first + 1;
    if (lines > FUNCTION_LINES_MAX) {
      found.push(
        `${source.path}:${first}: function of ${lines} lines, at most ${FUNCTION_LINES_MAX}`,
      );
    }
  });
  return found;
}

/** Functions and methods, declared or typed, whose call sites a reader cannot check by eye. */
export function manyParameters(source: Source): string[] {
  const found: string[] = [];
  walk(parse(source), (node) => {
    const { params } = node;
    if (!Array.isArray(params) || params.length <= PARAMETERS_MAX || /TypeParam/.test(node.type))
      return;
    const at = `${source.path}:${lineAt(source.text, node.start)}`;
    found.push(`${at}: ${params.length} parameters, at most ${PARAMETERS_MAX}; pass an object`);
  });
  return found;
}

/** SQL that takes values by position, more than a reader can count. Queries of the store have names for them. */
export function manyPositions({ path, text }: Source): string[] {
  return text.split("\n").flatMap((line, index) => {
    const most = Math.max(0, ...[...line.matchAll(/\$(\d+)\b/g)].map(([, at]) => Number(at)));
    return most > SQL_POSITIONS_MAX
      ? [`${path}:${index + 1}: $${most}; name the parameters, at most ${SQL_POSITIONS_MAX}`]
      : [];
  });
}

function isCallbackOf({ parent }: Place, name: string): boolean {
  return parent?.type === "CallExpression" && calleeOf(parent)[0] === name;
}

/** `test.each(…)("…")` gives ["test", "each"]; anything not a plain name gives []. */
function calleeOf(call: Syntax): readonly string[] {
  const name = (callee: unknown): readonly string[] => {
    if (!isSyntax(callee)) return [];
    if (callee.type === "Identifier") return [String(callee["name"])];
    if (callee.type === "CallExpression") return name(callee["callee"]);
    if (callee.type === "TaggedTemplateExpression") return name(callee["tag"]);
    if (callee.type !== "MemberExpression" || !isSyntax(callee["property"])) return [];
    const object = name(callee["object"]);
    return object.length === 0 ? [] : [...object, String(callee["property"]["name"])];
  };
  return name(call["callee"]);
}

/** A test's full title, chapters included, and how it is declared. */
type Title = {
  readonly title: string;
  readonly line: number;
  readonly callee: readonly string[];
};

/** Every test and chapter of a file. */
export function titlesOf(source: Source): readonly Title[] {
  const found: Title[] = [];
  const chapters: { readonly title: string; readonly end: number }[] = [];
  walk(parse(source), (node) => {
    if (node.type !== "CallExpression" || !Array.isArray(node["arguments"])) return;
    const callee = calleeOf(node);
    if (!["test", "it", "describe"].includes(callee[0] ?? "")) return;
    const own = stringOf(node["arguments"][0]) ?? openTitle(node["arguments"][0]);
    if (own === undefined) return;
    while ((chapters.at(-1)?.end ?? Infinity) < node.start) chapters.pop();
    const title = [...chapters.map((chapter) => chapter.title), own].join(" > ");
    found.push({ title, line: lineAt(source.text, node.start), callee });
    if (callee[0] === "describe") chapters.push({ title: own, end: node.end });
  });
  return found;
}

/** A title with holes: its fixed parts, with {} for the holes. */
function openTitle(value: unknown): string | undefined {
  if (!isSyntax(value) || value.type !== "TemplateLiteral") return undefined;
  // The parser gives every quasi its cooked text.
  const quasis = value["quasis"] as { value: { cooked: string } }[];
  return quasis.map((quasi) => quasi.value.cooked).join("{}");
}

/** Titles that clash, that hide tests, or that hedge. */
export function titleFaults(source: Source): string[] {
  const seen = new Set<string>();
  return titlesOf(source).flatMap(({ title, line, callee }) => {
    const at = `${source.path}:${line}`;
    const faults: string[] = [];
    if (seen.has(title)) faults.push(`${at}: a second test is called "${title}"`);
    seen.add(title);
    if (/\bshould\b/i.test(title)) faults.push(`${at}: state what happens, without "should"`);
    if (callee.some((name) => /^(skip|only|todo|skipIf|runIf|fails)$/.test(name))) {
      faults.push(`${at}: ${callee.join(".")} hides a test`);
    }
    return faults;
  });
}

const TIMERS = /^(setTimeout|setInterval|setImmediate)$/;

/** Sleeping in a test. */
export function timers(source: Source): string[] {
  const found: string[] = [];
  walk(parse(source), (node, place) => {
    const isTimer = node.type === "Identifier" && TIMERS.test(String(node["name"]));
    const isImport = node.type === "Literal" && String(node["value"]).startsWith("node:timers");
    if (!(isTimer && place.key !== "imported") && !(isImport && place.key === "source")) return;
    found.push(
      `${source.path}:${lineAt(source.text, node.start)}: wait with until() or on an event`,
    );
  });
  return found;
}

/** Default exports: every importer may give them another name. */
export function defaultExports(source: Source): string[] {
  const found: string[] = [];
  walk(parse(source), (node) => {
    if (node.type !== "ExportDefaultDeclaration") return;
    found.push(`${source.path}:${lineAt(source.text, node.start)}: export it by its name`);
  });
  return found;
}

/** Files whose name says nothing. */
export function emptyNames({ path }: Source): string[] {
  const stem = basename(path).split(".")[0] ?? "";
  if (!EMPTY_NAMES.includes(stem) || /^clients\/(ts|handler)\/src\/index\.ts$/.test(path))
    return [];
  return [`${path}: name it after what it holds`];
}

/** Lines that break a rule of text. */
export function textFaults({ path, text }: Source): string[] {
  const rules: readonly (readonly [RegExp, string])[] = [
    [UNFINISHED, "finish it, or name its issue as in (#12)"],
    [MACHINE_PATH, "a path of one machine"],
    [REGISTRY_HOST, "the host of a package registry"],
  ];
  return text
    .split("\n")
    .flatMap((line, index) =>
      rules.filter(([rule]) => rule.test(line)).map(([, why]) => `${path}:${index + 1}: ${why}`),
    );
}

/** Suppressions of the linter that do not say why. */
export function silentSuppressions({ path, text }: Source): string[] {
  return text.split("\n").flatMap((line, at) => {
    const isSilent = /\b(ox|es)lint-disable/.test(line) && !/lint-disable\S* .* -- \w/.test(line);
    return isSilent ? [`${path}:${at + 1}: say why, behind " -- "`] : [];
  });
}

/** Items about a claim, as object literals: `case: "outcome"` and the like. */
const CLAIM_ITEM = /\bcase: "(outcome|delta|log|release|renew|extend|effectBegin|effectCommit)"/;
const FENCED_WRITER = "services/executor/src/work/fenced-writer.ts";

/** Items about a claim that an executor builds without the helper that takes the claim. */
export function unfencedItems({ path, text }: Source): string[] {
  if (!path.startsWith("services/executor/src/") || path === FENCED_WRITER) return [];
  const lines = text.split("\n");
  return lines.flatMap((line, at) =>
    CLAIM_ITEM.test(line) ? [`${path}:${at + 1}: build it by ${FENCED_WRITER}`] : [],
  );
}

/** Property tests that draw other cases each time: what fails once must fail again, and here first. */
export function unseeded({ path, text }: Source): string[] {
  const isProperty = /from "fast-check"/.test(text) && /\bassert\(/.test(text);
  return isProperty && !/\bseed: /.test(text) ? [`${path}: give fast-check a seed`] : [];
}
