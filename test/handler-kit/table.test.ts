import { expect, test } from "vitest";
import { tableOf } from "./table.ts";

test("the table counts the cases of each SDK by group, and says why an SDK is missing", () => {
  const ok = { group: "hello", name: "a", rule: "P1", ms: 1_200 };
  const failure = { rule: "P1", expected: "a", came: "b", stderr: "" };
  const table = tableOf([
    { language: "TypeScript", verdicts: [ok, { ...ok, name: "b", ms: 300, failure }] },
    { language: "Go", why: "it is not on the path" },
  ]);
  expect(table.split("\n")).toEqual([
    "group         TypeScript    Go",
    "hello         1 of 2        -",
    "all           1 of 2        -",
    "seconds       1.5           -",
    "SKIPPED: Go, it is not on the path",
  ]);
});
