// What each client has, on the same cases: the tables of clients/PARITY.md. clients/parity.json names the test of each behaviour in each
// language. A behaviour without a test in a language counts as missing there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, type Source, trackedSources } from "../sources.ts";
import { isSyntax, parse, type Syntax, walk } from "../syntax.ts";
import { table } from "./table.ts";

/** The languages of the clients. */
export const LANGUAGES = ["ts", "python", "go"] as const;
export type Language = (typeof LANGUAGES)[number];

/** A behaviour, and the name of its test by language. */
interface Behaviour extends Partial<Readonly<Record<Language, string>>> {
  readonly behaviour: string;
  readonly checklist?: string;
}

interface Section {
  readonly section: string;
  readonly rows: readonly Behaviour[];
}

/** The mapping as it is stored; the file is ours. */
export const readParity = (): readonly Section[] =>
  JSON.parse(readFileSync(join(ROOT, "clients", "parity.json"), "utf8")) as Section[];

/** The tables, one for each section. */
export function parityTables(): string {
  return readParity()
    .map(({ section, rows }) => `## ${section}\n\n${sectionTable(rows)}`)
    .join("\n\n");
}

function sectionTable(rows: readonly Behaviour[]): string {
  const cells = rows.map((row) => [
    row.checklist === undefined ? row.behaviour : `${row.behaviour} (${row.checklist})`,
    ...LANGUAGES.map((language) => (row[language] === undefined ? "–" : "yes")),
  ]);
  return table(["behaviour", "TypeScript", "Python", "Go"], cells);
}

/** Where the tests of a language are, and the names of those that run. */
const TESTS: Readonly<
  Record<Language, { files: RegExp; names: (source: Source) => readonly string[] }>
> = {
  ts: {
    files: /^(clients\/(ts|handler)|services\/core\/src\/handler)\/.*\.test\.ts$/,
    names: titlesOf,
  },
  python: {
    files: /^clients\/python\/tests\/test_\w+\.py$/,
    names: ({ text }) => functionsOf(text),
  },
  go: { files: /^clients\/go\/.*_test\.go$/, names: ({ text }) => goTestsOf(text) },
};

/** The titles in calls of `test` and `test.each(…)`. A call of `test.skip`, `test.todo` or the like is no test. */
export function titlesOf(source: Source): readonly string[] {
  const titles: string[] = [];
  walk(parse(source), (node) => {
    if (node.type !== "CallExpression" || !isTestCall(node["callee"])) return;
    const [title] = node["arguments"] as readonly Syntax[];
    if (title !== undefined) titles.push(source.text.slice(title.start + 1, title.end - 1));
  });
  return titles;
}

function isTestCall(callee: unknown): boolean {
  if (!isSyntax(callee)) return false;
  if (callee.type === "Identifier") return callee["name"] === "test";
  // test.each(cases)("title", …)
  if (callee.type !== "CallExpression" || !isSyntax(callee["callee"])) return false;
  const { object, property } = callee["callee"];
  return isTestCall(object) && isSyntax(property) && property["name"] === "each";
}

/** The test functions of a Python file without those that a mark skips. */
export function functionsOf(text: string): readonly string[] {
  const found = text.matchAll(/^((?:@.*\n)*)(?:async )?def (test_\w+)\(/gm);
  return [...found]
    .filter(([, marks = ""]) => !/\b(skip|xfail)\b/.test(marks))
    .map(([, , name = ""]) => name);
}

/** The test functions of a Go file and their named cases, without functions that always skip. */
export function goTestsOf(text: string): readonly string[] {
  const code = text.replaceAll(/^\s*\/\/.*$/gm, "");
  const found = code.matchAll(/^func (Test\w+)\(\w+ \*testing\.T\) \{\n([\s\S]*?)^\}/gm);
  return [...found]
    .filter(([, , body = ""]) => !/^\t\w+\.Skip/m.test(body))
    .flatMap(([, name = "", body = ""]) => [name, ...casesOf(body)]);
}

/** The names of the cases of a test: of `t.Run`, or the field `name` of a row in a table. */
const casesOf = (body: string): readonly string[] =>
  [...body.matchAll(/\bt\.Run\("([^"]+)"|\bname:\s+"([^"]+)"/gm)].map(
    ([, run, row]) => run ?? row ?? "",
  );

/** The names among `rows` that no test has. A title may continue after the name, with a case. */
export function missingTests(rows: readonly Behaviour[]): readonly string[] {
  return LANGUAGES.flatMap((language) => {
    const { files, names } = TESTS[language];
    const known = trackedSources((path) => files.test(path)).flatMap(names);
    const has = (name: string): boolean =>
      language === "ts" ? known.some((title) => title.startsWith(name)) : known.includes(name);
    return rows
      .flatMap((row) => row[language] ?? [])
      .filter((name) => !has(name))
      .map((name) => `${language}: ${name}`);
  });
}
