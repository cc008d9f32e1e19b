import { expect, test } from "vitest";
import { lookup, parsePath, pathText } from "./path.ts";

const at = (value: unknown, text: string): unknown => {
  const parsed = parsePath(text);
  if (!parsed.ok) return parsed.reason;
  const found = lookup(value, parsed.path);
  return found.found ? found.value : "nothing";
};

test("a path reads fields, indexes and quoted names", () => {
  const value = { a: { "b-c": [10, { "x.y": 1 }] }, "0": "zero" };
  expect(at(value, "a.b-c[0]")).toBe(10);
  expect(at(value, "a.b-c.0")).toBe(10);
  expect(at(value, 'a["b-c"][1]["x.y"]')).toBe(1);
  expect(at(value, "a['b-c'][1]['x.y']")).toBe(1);
});

test("a path finds no missing value and no inherited property", () => {
  const value = { a: [1], s: "text", n: null };
  for (const path of [
    "b",
    "a[1]",
    "a.length",
    "s.length",
    "s[0]",
    "n.x",
    "a.map",
    "toString",
    "a.x",
  ])
    expect(at(value, path), path).toBe("nothing");
});

test("a path to a prototype is refused by name (J4, T1)", () => {
  for (const path of [
    "__proto__",
    "a.__proto__.x",
    "a.constructor",
    "constructor.prototype",
    'a["__proto__"]',
  ])
    expect(at({}, path), path).toBe("RESERVED_KEY");
});

test("an expression that is more than a path is refused (T2)", () => {
  for (const path of [
    "",
    "a()",
    "a.b('x')",
    "a + b",
    "a.",
    ".a",
    "a..b",
    "a[-1]",
    "a[b]",
    "a[0",
    "1a",
    'a["b\\"]',
  ])
    expect(at({}, path), path).toBe("PATH_SYNTAX");
  expect(at({}, `a${".b".repeat(100)}`)).toBe("PATH_SYNTAX");
});

test("a path is written as it is read", () => {
  const parsed = parsePath("ctx.nodes.a[2].b");
  expect(parsed.ok && pathText(parsed.path)).toBe("ctx.nodes.a[2].b");
});
