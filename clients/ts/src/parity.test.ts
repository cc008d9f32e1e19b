import { readFileSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";

test("every behaviour of PARITY.md names a test that exists", () => {
  const parity = readFileSync(new URL("../../PARITY.md", import.meta.url), "utf8");
  const named = [...parity.matchAll(/^\|.*\| `([^`]+)`\s*\|$/gm)].map((row) => row[1] ?? "");
  const folder = new URL("./", import.meta.url);
  const tests = readdirSync(folder)
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => readFileSync(new URL(file, folder), "utf8"))
    .join("\n");
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !tests.includes(name))).toEqual([]);
});
