// What the documents say exists: commands, variables, and the example environment.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseDefinition } from "@pawl/core/definition/parse";
import { KNOWN_VARIABLES } from "@pawl/platform/config/known";
import { expect, test } from "vitest";
import { envExample, variables } from "./env-example.ts";
import { ROOT, trackedPaths, trackedSources } from "./sources.ts";

const documents = trackedSources((path) => path.endsWith(".md"));
const text = (path: string): string => readFileSync(join(ROOT, path), "utf8");

test("every npm command the documents name is a script", () => {
  // The file is ours; vitest reads the same scripts.
  const { scripts } = JSON.parse(text("package.json")) as { scripts: Record<string, string> };
  const unknown = documents.flatMap(({ path, text: words }) =>
    [...words.matchAll(/\bnpm (?:run (?:-s )?([\w:-]+)|(start|test)\b)/g)]
      .map(([, script, short]) => script ?? short ?? "")
      .filter((name) => !(name in scripts))
      .map((name) => `${path}: npm run ${name}`),
  );
  expect(unknown).toEqual([]);
});

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

test("every file a document links to exists", () => {
  const tracked = trackedPaths();
  const folders = new Set(
    tracked.flatMap((path) =>
      path.split("/").map((_, end, parts) => parts.slice(0, end).join("/")),
    ),
  );
  const broken = documents.flatMap(({ path, text: words }) =>
    [...words.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
      .map(([, target = ""]) => ({ target, resolved: join(path, "..", target).replace(/\/$/, "") }))
      .filter(({ resolved }) => !tracked.includes(resolved) && !folders.has(resolved))
      .map(({ target }) => `${path}: ${target}`),
  );
  expect(broken).toEqual([]);
});

test("the example environment is what the schemas give", () => {
  expect(text("deploy/env.example")).toBe(envExample());
});

test("the workflow of the README is a valid definition", () => {
  const [, yaml = ""] = /```yaml\n([\s\S]*?)```/.exec(text("README.md")) ?? [];
  expect(parseDefinition(yaml)).toMatchObject({ ok: true });
});
