import { expect, test } from "vitest";
import { BoundedMap } from "./bounded-map.ts";

const keptOf = <Key>(map: BoundedMap<Key, unknown>, keys: readonly Key[]): Key[] =>
  keys.filter((key) => map.get(key) !== undefined);

test("a value is made once per key while it is kept", () => {
  const made: string[] = [];
  const cache = new BoundedMap<string, string>(2);
  const cached = (text: string): string =>
    cache.ensure(text, (key) => {
      made.push(key);
      return key.toUpperCase();
    });
  expect([cached("a"), cached("a"), cached("b"), cached("b")]).toEqual(["A", "A", "B", "B"]);
  for (const key of ["c", "b", "a"]) cached(key);
  expect(made).toEqual(["a", "b", "c", "a"]);
});

test("the entries that were set longest ago make room, by number and by weight", () => {
  const byNumber = new BoundedMap<string, string>(2);
  for (const key of ["a", "b", "a", "c"]) byNumber.set(key, "x");
  expect(keptOf(byNumber, ["a", "b", "c"])).toEqual(["a", "c"]);
  const byWeight = new BoundedMap<string, string>(9, 10);
  for (const key of ["a", "b", "b", "c"]) byWeight.set(key, "x", 4);
  expect(keptOf(byWeight, ["a", "b", "c"])).toEqual(["b", "c"]);
  byWeight.set("heavy", "x", 50);
  expect(keptOf(byWeight, ["b", "c", "heavy"])).toEqual(["heavy"]);
  byWeight.delete("heavy");
  for (const key of ["a", "b"]) byWeight.set(key, "x", 5);
  expect(keptOf(byWeight, ["a", "b", "heavy"])).toEqual(["a", "b"]);
});
