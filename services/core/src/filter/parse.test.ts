import fc from "fast-check";
import { expect, test } from "vitest";
import { LIMITS } from "../data/limits.ts";
import type { Argument, Comparator, Filter } from "./ast.ts";
import { parseFilter } from "./parse.ts";
import { printFilter } from "./print.ts";
import { RUN_FIELDS } from "./run-fields.ts";
import { typeFilter } from "./typed.ts";

/** A filter without the places of its parts. */
function parsed(text: string): unknown {
  const result = parseFilter(text);
  if (!result.ok) throw new Error(`${text}: ${result.fault.message}`);
  return bare(result.made);
}

function bare(filter: Filter): unknown {
  if (filter.kind === "not") return { ...filter, part: bare(filter.part) };
  if (filter.kind !== "compare") return { ...filter, parts: filter.parts.map(bare) };
  const { at: _, ...argument } = filter.argument;
  const { path, comparator, kind } = filter;
  return { kind, path, comparator, argument };
}

const NAMES = fc.oneof(
  fc.constantFrom(
    "status",
    "metadata",
    "AND",
    "NOT",
    "7",
    "a-b",
    "größe",
    'with "quotes"',
    "a.b",
    "",
  ),
  fc.string({ maxLength: 6 }),
);

const ARGUMENTS: fc.Arbitrary<Argument> = fc
  .record({
    text: fc.string({
      maxLength: 8,
      unit: fc.constantFrom("a", "B", "*", "\\", '"', "'", " ", "\n", "ü", "1"),
    }),
    isQuoted: fc.boolean(),
    opensStart: fc.boolean(),
    opensEnd: fc.boolean(),
  })
  .map(({ text, isQuoted, opensStart, opensEnd }) => {
    const plain = isQuoted ? text : text.replaceAll(/[^aB1ü]/g, "") || "x";
    // A wildcard alone opens both ends.
    const opens =
      plain === "" && (opensStart || opensEnd)
        ? { opensStart: true, opensEnd: true }
        : { opensStart, opensEnd };
    return { text: plain, isQuoted, ...opens, at: 0 };
  });

const COMPARISONS: fc.Arbitrary<Filter> = fc.record({
  kind: fc.constant("compare" as const),
  path: fc.array(NAMES, { minLength: 1, maxLength: 3 }),
  comparator: fc.constantFrom<Comparator[]>("=", "!=", "<", "<=", ">", ">=", ":"),
  argument: ARGUMENTS,
  at: fc.constant(0),
});

const { filter: FILTERS } = fc.letrec<{ filter: Filter; parts: Filter[] }>((tie) => ({
  parts: fc.array(tie("filter"), { minLength: 2, maxLength: 3 }),
  filter: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    COMPARISONS,
    fc.record({ kind: fc.constantFrom("and" as const, "or" as const), parts: tie("parts") }),
    fc.record({ kind: fc.constant("not" as const), part: tie("filter") }),
  ),
}));

test("a filter that was printed and read again is the same filter", () => {
  fc.assert(
    fc.property(FILTERS, (filter) => {
      const text = printFilter(filter);
      fc.pre(text.length <= LIMITS.filterLength);
      expect(parsed(text)).toEqual(bare(filter));
    }),
    { numRuns: 500, seed: 76 },
  );
});

test("OR binds closer than AND, and terms without an operator are joined by AND", () => {
  expect(parsed("a = 1 AND b = 2 OR c = 3")).toEqual(parsed("a=1 AND (b=2 OR c=3)"));
  expect(parsed("a = 1 b = 2")).toEqual(parsed("a=1 AND b=2"));
  expect(parsed("-a = 1")).toEqual(parsed("NOT a = 1"));
  expect(parsed("t > 2026-11-18T20:00:00+01:00")).toEqual(parsed("(t>2026-11-18T20:00:00+01:00)"));
});

test("a filter that cannot be read names the line, the column and what was expected", () => {
  for (const [text, line, column, message] of [
    ["status running", 1, 8, 'expected a comparison: = != < <= > >= or :, but "running" is there'],
    ["status =\n  AND x = 1", 2, 3, 'expected a value, but "AND x = 1" is there'],
    ["(status = running", 1, 18, "expected ), but the filter ends"],
    ['error = "x', 1, 9, 'the text that begins here has no closing "'],
    ["a = 1)", 1, 6, 'expected AND, OR or the end of the filter, but ")" is there'],
    [
      "a = x*y",
      1,
      5,
      "a * stands only at the beginning or the end of a text; write \\* for the character",
    ],
    ["", 1, 1, "expected the name of a field, but the filter ends"],
    ['a = 1\nerror = "x\0y"', 2, 11, "a NUL character cannot be stored"],
    [`${"(".repeat(17)}a = 1`, 1, 17, "more than 16 parentheses are inside each other"],
  ] as const)
    expect(parseFilter(text)).toEqual({ ok: false, fault: { line, column, message } });
  expect(parseFilter("a=1 ".repeat(65))).toMatchObject({ fault: { column: 257 } });
  expect(parseFilter(" ".repeat(2_001))).toMatchObject({ ok: false });
});

test("a filter that cannot be read is refused, whatever it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (text) => {
      const result = parseFilter(text);
      if (result.ok) expect(parsed(printFilter(result.made))).toEqual(bare(result.made));
      else expect(result.fault.line).toBeGreaterThan(0);
    }),
    { numRuns: 500, seed: 76 },
  );
});

const typedOf = (text: string) => {
  const read = parseFilter(text);
  if (!read.ok) throw new Error(read.fault.message);
  return typeFilter(text, read.made, RUN_FIELDS);
};

test("comparisons get the type of their field, and statuses have other names", () => {
  expect(typedOf("status = SUCCESS")).toEqual({
    ok: true,
    made: { field: "status", is: "choice", values: ["completed"] },
  });
  expect(typedOf("create_time >= 2024-02-29")).toMatchObject({
    made: { value: 1_709_164_800_000 },
  });
  expect(typedOf("create_time = 2026-11-18T20:00:00.5+01:30")).toMatchObject({
    made: { value: Date.parse("2026-11-18T20:00:00.5+01:30") },
  });
  expect(typedOf("duration > 1.5h")).toMatchObject({ made: { value: 5_400_000 } });
  expect(typedOf('metadata.a.b = "7"')).toMatchObject({ made: { value: "7", path: ["a", "b"] } });
  expect(typedOf("metadata.a = 7")).toMatchObject({ made: { is: "json_equals", value: 7 } });
  expect(typedOf("metadata:a")).toMatchObject({ made: { is: "json_present", path: ["a"] } });
  expect(typedOf("error != timeout*")).toMatchObject({
    made: { is: "not", part: { is: "text", pattern: { text: "timeout", opensEnd: true } } },
  });
});

test("a comparison that does not fit its field is refused with its place", () => {
  for (const [text, column, message] of [
    ["statsu = running", 1, "there is no field statsu; did you mean status?"],
    ["status = done", 10, "done is not one of"],
    ["NOT failure_class = user_timeuot", 21, "user_timeuot is not one of timeout, user_timeout"],
    ["failure_class > permanent", 17, "compares numbers, times and durations only"],
    ["status.x = running", 1, "status has no keys"],
    ["workflow > a", 12, "compares numbers, times and durations only"],
    ["priority = high", 12, "expected a number"],
    ["has_failures = yes", 16, "expected true or false"],
    ["create_time > yesterday", 15, "expected a time"],
    ["create_time > 2026-02-29", 15, "expected a time"],
    ["duration > 5", 12, "expected a duration"],
    ["metadata = x", 1, "name a key after a dot"],
    ["metadata.a > x", 14, "expected a number"],
    ["constructor = x", 1, "there is no field constructor"],
  ] as const)
    expect(typedOf(text), text).toMatchObject({
      ok: false,
      fault: { line: 1, column, message: expect.stringContaining(message) },
    });
});
