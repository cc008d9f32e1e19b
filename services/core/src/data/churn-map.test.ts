import { assert, array, constantFrom, integer, property, tuple } from "fast-check";
import { expect, test } from "vitest";
import { ChurnMap } from "./churn-map.ts";

test("it answers as a Map does, whatever is done to it", () => {
  const step = tuple(constantFrom("set", "delete"), integer({ min: 0, max: 7 }), integer());
  assert(
    property(array(step, { maxLength: 60 }), (steps) => {
      const map = new Map<number, number>();
      const churn = new ChurnMap<number, number>();
      for (const [what, key, value] of steps) {
        if (what === "set") {
          map.set(key, value);
          churn.set(key, value);
        } else expect(churn.delete(key)).toBe(map.delete(key));
        expect(churn.get(key)).toBe(map.get(key));
        expect(churn.has(key)).toBe(map.has(key));
      }
      expect(churn.size).toBe(map.size);
      expect([...churn.keys()]).toEqual([...map.keys()]);
      expect([...churn.values()]).toEqual([...map.values()]);
    }),
    { seed: 1 },
  );
});

test("entries may be deleted while they are gone through", () => {
  const churn = new ChurnMap<string, string>();
  for (const key of ["a", "b", "c", "d"]) churn.set(key, key);
  const seen: string[] = [];
  for (const value of churn.values()) {
    seen.push(value);
    churn.delete("a");
    churn.delete("c");
  }
  expect(seen).toEqual(["a", "b", "d"]);
});
