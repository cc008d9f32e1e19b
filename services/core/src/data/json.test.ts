import * as fc from "fast-check";
import { expect, test } from "vitest";
import { checkJson, VALUE_LIMITS } from "./json.ts";
import { LIMITS } from "./limits.ts";

fc.configureGlobal({ seed: 1 });

const reasonOf = (text: string, limits = VALUE_LIMITS): string => {
  const checked = checkJson(text, limits);
  return checked.ok ? "ok" : checked.reason;
};

test("the bad-input catalogue is refused by name (J1-J14)", () => {
  expect(reasonOf("[".repeat(10_000) + "]".repeat(10_000))).toBe("JSON_TOO_DEEP");
  expect(reasonOf('{"a":1,"a":2}')).toBe("JSON_DUPLICATE_KEY");
  expect(reasonOf('{"a":1,"\\u0061":2}')).toBe("JSON_DUPLICATE_KEY");
  expect(reasonOf("1e999")).toBe("NUMBER_RANGE");
  expect(reasonOf("-0.1e-400")).toBe("NUMBER_RANGE");
  expect(reasonOf("9007199254740993")).toBe("NUMBER_PRECISION");
  expect(reasonOf("-9007199254740993")).toBe("NUMBER_PRECISION");
  expect(reasonOf('"\\ud800"')).toBe("BAD_UNICODE");
  expect(reasonOf('"\ud800"')).toBe("BAD_UNICODE");
  expect(reasonOf('{"\\udc00":1}')).toBe("BAD_UNICODE");
  expect(reasonOf('"a\\u0000b"')).toBe("NUL_CHARACTER");
  expect(reasonOf('"a\u0000b"')).toBe("NUL_CHARACTER");
  expect(reasonOf('{"__proto__":{}}')).toBe("RESERVED_KEY");
  expect(reasonOf('{"constructor":{"prototype":{}}}')).toBe("RESERVED_KEY");
  expect(reasonOf(`{"${"k".repeat(10_000)}":1}`)).toBe("KEY_TOO_LONG");
  expect(reasonOf(JSON.stringify("x".repeat(LIMITS.valueBytes)))).toBe("TOO_LARGE");
  const keys = Object.fromEntries(
    Array.from({ length: LIMITS.jsonKeys + 1 }, (_, index) => [`k${index}`, 1]),
  );
  expect(reasonOf(JSON.stringify(keys))).toBe("TOO_MANY_KEYS");
});

test("JSON that only looks bad is accepted", () => {
  for (const text of [
    '{"constructor":"Bob the builder"}',
    '{"prototype":1}',
    '"\\ud83d\\ude00"',
    "9007199254740991",
  ])
    expect(reasonOf(text)).toBe("ok");
  expect(reasonOf("[".repeat(LIMITS.jsonDepth) + "]".repeat(LIMITS.jsonDepth))).toBe("ok");
  expect(reasonOf('{"a":{"x":1},"b":{"x":1}}')).toBe("ok");
  expect(reasonOf("1.5e300")).toBe("ok");
});

test("a text that is not JSON is JSON_SYNTAX and never an exception", () => {
  for (const text of [
    "",
    " ",
    "{",
    "[1,]",
    '{"a":}',
    '{"a" 1}',
    "01",
    "+1",
    ".5",
    "1.",
    "nul",
    "tru e",
    "'a'",
    '"\\x"',
  ])
    expect(reasonOf(text), text).toBe("JSON_SYNTAX");
  for (const text of [
    '"a\nb"',
    "1 2",
    "[]]",
    "{}x",
    "{,}",
    "[,]",
    '{"a":1,}',
    "\u00a01",
    "NaN",
    "-",
    '"\\u12"',
    "[}",
  ])
    expect(reasonOf(text), text).toBe("JSON_SYNTAX");
});

const plainJson = fc
  .jsonValue({ maxDepth: 5 })
  .map((value) => JSON.stringify(value))
  .filter((text) => !/\\u0000|__proto__|prototype|\d{16}/.test(text) && text.isWellFormed());

test("every JSON within the limits comes through as JSON.parse reads it", () => {
  fc.assert(
    fc.property(plainJson, (text) => {
      expect(checkJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
      expect(checkJson(` \n\t${text}\r `).ok).toBe(true);
    }),
    { numRuns: 400 },
  );
});

test("the scanner takes nothing that JSON.parse refuses, and refuses nothing plain that it takes", () => {
  const token = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    '"a"',
    '"b"',
    "1",
    "-2.5",
    "true",
    "null",
    " ",
    '"',
    "\\",
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 12 }), (tokens) => {
      const text = tokens.join("");
      let value: { parsed: unknown } | undefined;
      try {
        value = { parsed: JSON.parse(text) };
      } catch {
        value = undefined;
      }
      const reason = reasonOf(text);
      if (value === undefined) expect(reason).toBe("JSON_SYNTAX");
      else expect(["ok", "JSON_DUPLICATE_KEY"]).toContain(reason);
    }),
    { numRuns: 1_500 },
  );
});
