// Tests of the program that counts the figures of the house.
import { expect, test } from "vitest";
import { measureHouse } from "./house.ts";

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
];
const figures = new Map(measureHouse(sources).map(({ name, value }) => [name, value]));

test("files and lines are counted without tests and generated code", () => {
  expect(figures.get("all")).toBe("2 files, 6 lines; tests 1 files, 1 lines");
  expect(figures.get("services/scheduler/")).toBe("2 files, 6 lines; tests 1 files, 1 lines");
  expect(figures.get("services/core/")).toBe("0 files, 0 lines; tests 0 files, 0 lines");
});

test("rooms that import each other are found, also by types alone", () => {
  expect(figures.get("pairs of rooms that import each other")).toBe("1: scheduler/tick and work");
});

test("files that name an event and banned words of comments are counted", () => {
  expect(figures.get("files that name node.skipped")).toBe("1");
  expect(figures.get("banned words in comments")).toBe("1");
});
