// clients/PARITY.md is about tests that exist; generated.test.ts compares its tables with the mapping. It takes less than a second.
import { expect, test } from "vitest";
import { functionsOf, goTestsOf, missingTests, readParity, titlesOf } from "./parity.ts";

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

test("a name in a comment and a test that is skipped do not count, in each language", () => {
  const ts = [
    '// test("a comment", () => {});',
    'test.skip("skipped", () => {});',
    'test.todo("to do");',
    'test("runs", () => {});',
    "test.each([1])(`case ${1}`, () => {});",
  ];
  expect(titlesOf({ path: "x.test.ts", text: ts.join("\n") })).toEqual(["runs", "case ${1}"]);
  const python = [
    "# def test_comment():",
    "@pytest.mark.skip(reason='slow')",
    "def test_skipped() -> None:",
    "    pass",
    "@pytest.mark.parametrize('n', [1])",
    "def test_runs(n: int) -> None:",
    "    pass",
  ];
  expect(functionsOf(python.join("\n"))).toEqual(["test_runs"]);
  const go = [
    "// func TestComment(t *testing.T) {",
    "func TestSkipped(t *testing.T) {",
    '\tt.Skip("slow")',
    "}",
    "func TestRuns(t *testing.T) {",
    '\tif isShort {\n\t\tt.Skip("short")\n\t}',
    '\tt.Run("a case", f)',
    '\t// t.Run("a comment", f)',
    "}",
  ];
  expect(goTestsOf(go.join("\n"))).toEqual(["TestRuns", "a case"]);
});
