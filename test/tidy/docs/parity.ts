// What each client has, on the same cases: the tables of clients/PARITY.md. clients/parity.json names the test of each behaviour in each
// language. A behaviour without a test in a language counts as missing there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, trackedSources } from "../sources.ts";
import { table } from "./table.ts";

const LANGUAGES = ["ts", "python", "go"] as const;
type Language = (typeof LANGUAGES)[number];

/** A behaviour, and the name of its test by language. */
export interface Behaviour extends Partial<Readonly<Record<Language, string>>> {
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

/** Where the tests of a language are, and how their source spells the beginning of one. */
const TESTS: Readonly<Record<Language, { files: RegExp; spell: (name: string) => string[] }>> = {
  ts: {
    files: /^(clients\/(ts|handler)|services\/core\/src\/handler)\/.*\.test\.ts$/,
    spell: (name) => [`"${name}`, `\`${name}`],
  },
  python: { files: /^clients\/python\/tests\/test_\w+\.py$/, spell: (name) => [`def ${name}(`] },
  go: {
    files: /^clients\/go\/.*_test\.go$/,
    // A test, or a named case of one.
    spell: (name) => [`func ${name}(`, `t.Run("${name}"`, `"${name}",`],
  },
};

/** The names among `rows` that no test has. */
export function missingTests(rows: readonly Behaviour[]): readonly string[] {
  return LANGUAGES.flatMap((language) => {
    const { files, spell } = TESTS[language];
    const source = trackedSources((path) => files.test(path))
      .map(({ text }) => text)
      .join("\n");
    return rows
      .flatMap((row) => row[language] ?? [])
      .filter((name) => !spell(name).some((words) => source.includes(words)))
      .map((name) => `${language}: ${name}`);
  });
}
