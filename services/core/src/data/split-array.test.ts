import * as fc from "fast-check";
import { expect, test } from "vitest";
import { splitArray } from "./split-array.ts";

fc.configureGlobal({ seed: 1 });

test("splitting gives each element's own text, however it is written", () => {
  expect(splitArray('[1, "a,\\"]b" ,{"x":[1,2]},[], null]')).toEqual([
    "1",
    '"a,\\"]b"',
    '{"x":[1,2]}',
    "[]",
    "null",
  ]);
  expect(splitArray(" [ ] ")).toEqual([]);
});

test("the elements of any array are those JSON would print", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.constantFrom(0, 2), (values, indent) => {
      const split = splitArray(JSON.stringify(values, null, indent));
      expect(split.map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(values)));
    }),
  );
});
