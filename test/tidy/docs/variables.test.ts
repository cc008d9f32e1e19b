// The variables that the documents name, and the example environment.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { KNOWN_VARIABLES } from "@pawl/platform/config/known";
import { expect, test } from "vitest";
import { envExample, SCHEMAS, variables } from "../env-example.ts";
import { ROOT, trackedSources } from "../sources.ts";

/** The changelog and the decisions also name variables of the past. */
const isHistory = (path: string): boolean =>
  path === "CHANGELOG.md" || path.startsWith("services/decisions/");
const documents = trackedSources((path) => path.endsWith(".md") && !isHistory(path));
const text = (path: string): string => readFileSync(join(ROOT, path), "utf8");

test("every variable the documents name is read by something", () => {
  const known = new Set(KNOWN_VARIABLES);
  const unknown = documents.flatMap(({ path, text: words }) =>
    [...words.matchAll(/\bPAWL_[A-Z_]*[A-Z]\b/g)]
      .filter(([name]) => !known.has(name))
      .map(([name]) => `${path}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

test("every variable of a schema is known to the services that share its environment", () => {
  const known = new Set(KNOWN_VARIABLES);
  const names = Object.values(variables()).flatMap((lines) => lines.map(({ name }) => name));
  expect(names.filter((name) => name.startsWith("PAWL_") && !known.has(name))).toEqual([]);
});

test("the example environment is what the schemas give", () => {
  expect(text("deploy/env.example")).toBe(envExample());
});

test("a value of the example environment is one that its service takes, and is its default", () => {
  const sections = text("deploy/env.example").split(/^## /m);
  for (const { name, schema } of SCHEMAS) {
    const section = sections.find((each) => each.startsWith(`${name}\n`)) ?? "";
    const values = [...section.matchAll(/^# ([A-Z_]+)=(.+)$/gm)];
    expect(values.length).toBeGreaterThan(10);
    for (const [, variable = "", value] of values) {
      const shown = (given?: string) =>
        JSON.stringify(schema.shape[variable]?.safeParse(given).data);
      expect(shown(value), variable).toBe(shown());
    }
  }
});
