// clients/PARITY.md is about tests that exist; generated.test.ts compares its tables with the mapping. It takes less than a second.
import { expect, test } from "vitest";
import { missingTests, readParity } from "./parity.ts";

const rows = readParity().flatMap((section) => section.rows);

test("every test that parity.json names exists", () => {
  expect(missingTests(rows)).toEqual([]);
});

test("every behaviour has a name of its own and a test in TypeScript", () => {
  const names = rows.map(({ behaviour }) => behaviour);
  expect(new Set(names).size).toBe(names.length);
  expect(rows.filter(({ ts }) => ts === undefined)).toEqual([]);
  expect(names.length).toBeGreaterThan(50);
});

test("a name without a test is noticed, in each language", () => {
  const named = { behaviour: "none", ts: "no such title", python: "test_none", go: "TestNone" };
  expect(missingTests([named])).toEqual(["ts: no such title", "python: test_none", "go: TestNone"]);
});
