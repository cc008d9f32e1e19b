import * as fc from "fast-check";
import { expect, test } from "vitest";
import { exceedsUtf8, utf8Bytes } from "./utf8.ts";

fc.configureGlobal({ seed: 1 });

test("bytes are counted as an encoder would make them", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 0xffff })), (units) => {
      const text = String.fromCharCode(...units);
      expect(utf8Bytes(text)).toBe(new TextEncoder().encode(text).length);
    }),
    { numRuns: 400 },
  );
  expect(utf8Bytes("\ud800")).toBe(3);
  expect(utf8Bytes("\ud800\ud800a")).toBe(7);
});

test("a limit is passed by its first byte too many", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.nat({ max: 40 }), (text, limit) => {
      expect(exceedsUtf8(text, limit)).toBe(utf8Bytes(text) > limit);
    }),
    { numRuns: 400 },
  );
});
