import { expect, test } from "vitest";
import { merge, mergeStrategyOf } from "./merge.ts";

const items = [
  { label: "one", value: "first" },
  { label: "two", value: { n: 2 } },
  { label: "three", value: "third" },
];

test("the edge decides, then the target node, then last_write_wins (S1.33)", () => {
  expect(mergeStrategyOf("array", "concat")).toBe("array");
  expect(mergeStrategyOf(null, "concat")).toBe("concat");
  expect(mergeStrategyOf(null, null)).toBe("last_write_wins");
});

test("last_write_wins takes the last edge's value (S1.34)", () => {
  expect(merge("last_write_wins", items)).toBe("third");
});

test("concat joins with a blank line in edge order (S1.35)", () => {
  expect(merge("concat", items)).toBe('first\n\n{"n":2}\n\nthird');
});

test("array lists the values (S1.36)", () => {
  expect(merge("array", items)).toEqual(["first", { n: 2 }, "third"]);
});

test("json_object names each value by its source's label (S1.37)", () => {
  expect(merge("json_object", items)).toEqual({ one: "first", two: { n: 2 }, three: "third" });
  const proto = merge("json_object", [{ label: "__proto__", value: 1 }]);
  expect(Object.getPrototypeOf(proto)).toBe(Object.prototype);
});
