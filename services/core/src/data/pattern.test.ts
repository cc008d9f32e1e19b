import { expect, test } from "vitest";
import { LIMITS } from "./limits.ts";
import { compilePattern, patternFault } from "./pattern.ts";

const patternOf = (text: string, ignoreCase = false) => {
  const compiled = compilePattern(text, { ignoreCase });
  if (!compiled.ok) throw new Error(compiled.message);
  return compiled.pattern;
};

test("a pattern is found where it lies, with or without regard to case", () => {
  expect(patternOf("b+").find("aabbb")).toEqual({ start: 2, end: 5 });
  expect(patternOf("b").find("bab", 1)).toEqual({ start: 2, end: 3 });
  expect(patternOf("SECRET").test("a secret")).toBe(false);
  expect(patternOf("SECRET", true).test("a secret")).toBe(true);
  expect(patternOf("^\\u0041\\d{2}$").test("A42")).toBe(true);
});

test("a pattern that would never end elsewhere is matched in linear time", () => {
  const began = performance.now();
  expect(patternOf("^(a+)+$").test(`${"a".repeat(100_000)}!`)).toBe(false);
  expect(performance.now() - began).toBeLessThan(2_000);
});

test.each(["(?=a)b", "(a)\\1", "(", "((a{100}){100}){100}", "x".repeat(LIMITS.patternLength + 1)])(
  "the pattern %s is refused",
  (text) => {
    expect(compilePattern(text).ok).toBe(false);
  },
);

test.each(["(?<n>a)\\k<n>", "\\k<n>", "[\\k]", "\\8", "\\Z", "\\h", "\\\\\\k"])(
  "the pattern %s asks for what is not there, and says so",
  (text) => {
    expect(patternFault(text)).toMatch(/^\\.* is (a back-reference|no escape)/);
  },
);

test("syntax that RE2 and JavaScript share, and an escaped backslash before a k, is no fault", () => {
  for (const text of ["\\d\\w\\s\\b\\.\\-\\/\\u0041\\x41\\p{L}\\n", "\\\\k<n>", "(?<n>a)", "k<n>"])
    expect(patternFault(text), text).toBeUndefined();
});
