import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { KNOWN_VARIABLES } from "./known.ts";

const root = join(import.meta.dirname, "../../../..");

/** The PAWL_ names in the product's sources, but for the list itself and for tests. */
const named = (): ReadonlySet<string> => {
  const files = globSync("{services,deploy,clients}/**/*.{ts,mjs}", {
    cwd: root,
    exclude: ["**/node_modules/**", "**/dist/**", "**/*.test.ts", "**/config/known.ts"],
  });
  const text = files.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  return new Set(text.match(/\bPAWL_[A-Z_]*[A-Z]\b/g));
};

test("every variable the product names is known, so that no service refuses a variable of another", () => {
  const unknown = [...named()].filter((name) => !KNOWN_VARIABLES.includes(name));
  expect(unknown).toEqual([]);
});

test("every known variable is read somewhere: one that does nothing would mislead", () => {
  const names = named();
  expect(KNOWN_VARIABLES.filter((name) => !names.has(name))).toEqual([]);
});
