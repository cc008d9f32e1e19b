// The bookkeeping of promised behaviours.
import { expect, test } from "vitest";
import { coverageOf } from "./coverage.ts";
import { behaviours, idsIn } from "./ids.ts";

test("the list is whole: five seeds, numbered without gaps", () => {
  const counts = Object.fromEntries(
    [...Map.groupBy(behaviours(), ({ id }) => id.slice(0, 2))].map(([seed, own]) => [
      seed,
      own.map(({ id }) => Number(id.slice(3))).every((number, index) => number === index + 1) &&
        own.length,
    ]),
  );
  expect(counts).toEqual({ S0: 60, S1: 59, S2: 42, S3: 55, S4: 44 });
});

test("ids are read from titles, ranges included", () => {
  expect(idsIn("a join fires once ( S3.21, S1.33-S1.35 )")).toEqual([
    "S3.21",
    "S1.33",
    "S1.34",
    "S1.35",
  ]);
  expect(idsIn("S0.1-3")).toEqual(["S0.1", "S0.2", "S0.3"]);
});

test("a named behaviour is no longer missing, and an unknown id is a fault", () => {
  const text = 'test("x (S3.1)", () => {}); test("y (S3.99)", () => {});';
  const { seeds, faults } = coverageOf([{ path: "x.test.ts", text }]);
  const own = seeds.find(({ seed }) => seed === "S3");
  expect(own?.named).toBe(1);
  expect(own?.missing.map(({ id }) => id)).not.toContain("S3.1");
  expect(faults).toEqual(["x.test.ts:1 names S3.99, which is not on the list"]);
});
