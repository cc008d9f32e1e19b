import { expect, test } from "vitest";
import { boundedCache } from "./bounded-cache.ts";

test("a value is made once per key while it is remembered, and memory is bounded", () => {
  const made: string[] = [];
  const cached = boundedCache<string, string>(2, (key) => {
    made.push(key);
    return key.toUpperCase();
  });
  expect([cached("a"), cached("a"), cached("b"), cached("b")]).toEqual(["A", "A", "B", "B"]);
  cached("c");
  cached("a");
  expect(made).toEqual(["a", "b", "c", "a"]);
});
