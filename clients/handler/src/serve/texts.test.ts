import * as fc from "fast-check";
import { expect, test } from "vitest";
import { bytesIn, cut, pieces } from "./texts.ts";

fc.configureGlobal({ seed: 1 });

const text = fc.string({ unit: "grapheme", maxLength: 60 });

test("pieces together are the text, and none is larger than its bytes", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 4, max: 30 }), (whole, bytesMax) => {
      const all = [...pieces(whole, bytesMax)];
      expect(all.join("")).toBe(whole.toWellFormed());
      for (const piece of all) expect(bytesIn(piece)).toBeLessThanOrEqual(bytesMax);
    }),
  );
});

test("a cut never splits a character", () => {
  fc.assert(
    fc.property(text, fc.nat({ max: 30 }), (whole, bytesMax) => {
      const start = cut(whole, bytesMax);
      expect(whole.toWellFormed().startsWith(start)).toBe(true);
      expect(bytesIn(start)).toBeLessThanOrEqual(bytesMax);
    }),
  );
});

test("a character larger than the limit is a piece of its own", () => {
  expect([...pieces("a😀b", 2)]).toEqual(["a", "😀", "b"]);
});
