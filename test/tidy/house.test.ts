// Tests of the program that counts the figures of the house.
import { expect, test } from "vitest";
import { measureHouse, NEW_PRODUCT } from "./house.ts";
import { trackedPaths } from "./sources.ts";

const sources = [
  {
    path: "services/scheduler/src/tick/a.ts",
    text: '// Nobody\n// reads this.\nimport { b } from "../work/b.ts";\nexport const a = b;\n',
  },
  {
    path: "services/scheduler/src/work/b.ts",
    text: 'import type { a } from "../tick/a.ts";\nexport const b = "node.skipped";\n',
  },
  { path: "services/scheduler/src/work/b.test.ts", text: 'const type = "node.skipped";\n' },
  { path: "proto/gen/ts/x.ts", text: "export {};\n" },
  { path: "clients/go/gen/x.go", text: "package gen\n" },
  { path: "clients/go/client.go", text: "package pawl\n\nvar A = 1\n" },
  { path: "clients/go/client_test.go", text: "package pawl\n" },
  { path: "clients/python/src/pawl_sdk/a.py", text: "a = 1\n" },
  { path: "clients/python/tests/test_a.py", text: "a = 1\n" },
];
const figures = new Map(measureHouse(sources).map(({ name, value }) => [name, value]));

test("files and lines are counted without tests and generated code", () => {
  expect(figures.get("all")).toBe("4 files, 10 lines; tests 3 files, 3 lines");
  expect(figures.get("services/scheduler/")).toBe(
    "2 files, 6 lines; tests 1 files, 1 lines; new 0 files, 0 lines",
  );
  expect(figures.get("clients/go/")).toBe(
    "1 files, 3 lines; tests 1 files, 1 lines; new 1 files, 3 lines",
  );
});

test("what is new since the re-cut is counted beside the engine", () => {
  expect(figures.get("new product")).toBe("2 files, 4 lines");
  expect(figures.get("all without new product")).toBe("2 files, 6 lines");
  const paths = trackedPaths();
  const gone = NEW_PRODUCT.filter((start) => !paths.some((path) => path.startsWith(start)));
  expect(gone).toEqual([]);
});

test("rooms that import each other are found, also by types alone", () => {
  expect(figures.get("pairs of rooms that import each other")).toBe("1: scheduler/tick and work");
});

test("files that name an event and banned words of comments are counted", () => {
  expect(figures.get("files that name node.skipped")).toBe("1");
  expect(figures.get("banned words in comments")).toBe("1");
});
