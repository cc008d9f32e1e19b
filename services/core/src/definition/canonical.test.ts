import * as fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "./canonical.ts";

fc.configureGlobal({ seed: 1 });

test("one value has one canonical text, whatever the order of its keys (S1.59)", () => {
  expect(canonicalJson({ b: 1, a: [true, null, "x"] })).toBe('{"a":[true,null,"x"],"b":1}');
  expect(canonicalJson({ a: 1e21, b: 1.0, c: -0 })).toBe('{"a":1e+21,"b":1,"c":0}');
  const shuffled = fc.dictionary(fc.string({ unit: "grapheme" }), fc.integer());
  fc.assert(
    fc.property(shuffled, (value) => {
      const reversed = Object.fromEntries(Object.entries(value).toReversed());
      expect(canonicalJson(reversed)).toBe(canonicalJson(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(value);
    }),
  );
});
