import { expect, test } from "vitest";
import { detailFacts } from "./details.ts";

test("few and flat details are facts", () => {
  expect(detailFacts({ claim: { order: "A-1", amount: 480 }, isNew: true })).toEqual([
    { name: "claim › order", value: "A-1" },
    { name: "claim › amount", value: "480" },
    { name: "isNew", value: "true" },
  ]);
});

test("lists, deep, long and many details are left to JSON", () => {
  for (const details of [
    undefined,
    null,
    7,
    [],
    {},
    { a: [1] },
    { a: { b: { c: { d: 1 } } } },
    { a: "x".repeat(121) },
    Object.fromEntries(Array.from({ length: 13 }, (_, n) => [`k${n}`, n])),
  ])
    expect(detailFacts(details)).toBeUndefined();
});
