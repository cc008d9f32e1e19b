import { create } from "@bufbuild/protobuf";
import { type Duration, DurationSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import { expect, test } from "vitest";
import {
  cursorOf,
  cursorOfText,
  durationMsOf,
  definitionTextOf,
  inputOf,
  lineOf,
  nameOf,
  pageSizeOf,
  requestIdOf,
  runIdOf,
} from "./fields.ts";

const NONE = new Uint8Array(0);
const json = (text: string): Uint8Array => Buffer.from(text);

/** The rule that a call breaks, or its result. */
function outcome(check: () => unknown): unknown {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error.violations[0]?.reason ?? error.reason;
  }
}

test("a run id is a UUID, lowered; other spellings are refused (C1, C2)", () => {
  const id = "0198c0de-0000-7000-8000-00000000000a";
  expect(runIdOf(id.toUpperCase())).toBe(id);
  for (const bad of [
    "",
    "x",
    `{${id}}`,
    id.replaceAll("-", ""),
    `${id}\n`,
    `${id.slice(0, -1)}g`,
  ]) {
    expect(outcome(() => runIdOf(bad))).toBe("BAD_ID");
  }
});

test("names, lines and request ids are short and printable", () => {
  expect(nameOf("workflow_id", "orders.v2")).toBe("orders.v2");
  for (const bad of ["", "_x", ".x", "a/b", "x".repeat(129), "é"]) {
    expect(outcome(() => nameOf("workflow_id", bad))).toBe("BAD_ID");
  }
  expect(lineOf("reason", "naïve ☂ reason", 200)).toBe("naïve ☂ reason");
  expect(outcome(() => lineOf("reason", "a\u0000b", 200))).toBe("NOT_PRINTABLE");
  expect(outcome(() => lineOf("reason", "a\nb", 200))).toBe("NOT_PRINTABLE");
  expect(outcome(() => lineOf("reason", "x".repeat(201), 200))).toBe("TOO_LONG");
  for (const bad of ["x".repeat(256), "two words", "naïve", "a\nb"]) {
    expect(outcome(() => requestIdOf(bad))).toBe("BAD_ID");
  }
  expect(requestIdOf("mine")).toBe("mine");
  expect(requestIdOf("")).toBeNull();
});

test("page sizes have a default, a ceiling and no negatives (C7)", () => {
  const bounds = { default: 50, max: 200 };
  expect([0, 7, 1e9].map((size) => pageSizeOf(size, bounds))).toEqual([50, 7, 200]);
  expect(outcome(() => pageSizeOf(-1, bounds))).toBe("OUT_OF_RANGE");
});

test("cursors are whole numbers of digits (C4)", () => {
  expect([cursorOfText("c", "0"), cursorOfText("c", "42"), cursorOf("c", 7n)]).toEqual([0, 42, 7]);
  for (const bad of [
    "",
    "-1",
    "abc",
    "1.5",
    "1e3",
    "9223372036854775808",
    "9007199254740993",
    " 1",
  ]) {
    expect(outcome(() => cursorOfText("c", bad))).toBe("BAD_CURSOR");
  }
  expect(outcome(() => cursorOf("c", 2n ** 63n))).toBe("BAD_CURSOR");
});

test("exact JSON is checked and passed on as it is (J1-J14)", () => {
  const exact = json('{"a": 1.0}');
  expect(inputOf({ inputJson: exact })).toBe('{"a": 1.0}');
  expect(inputOf({ inputJson: NONE })).toBe("null");
  const cases: readonly (readonly [string, string])[] = [
    ["[".repeat(10_000) + "]".repeat(10_000), "JSON_TOO_DEEP"],
    ['{"a":1,"a":2}', "JSON_DUPLICATE_KEY"],
    ["9007199254740993", "NUMBER_PRECISION"],
    ['"\\ud800"', "BAD_UNICODE"],
    ['"\\u0000"', "NUL_CHARACTER"],
    ["{", "JSON_SYNTAX"],
    [`"${"x".repeat(256 * 1024)}"`, "LIMIT_EXCEEDED"],
  ];
  for (const [text, reason] of cases)
    expect(outcome(() => inputOf({ inputJson: json(text) }))).toBe(reason);
  expect(outcome(() => inputOf({ inputJson: Uint8Array.of(0x22, 0xff, 0x22) }))).toBe(
    "BAD_UNICODE",
  );
});

test("a Value becomes JSON, and a Value that JSON cannot hold is refused (J7)", () => {
  const number = (value: number) => create(ValueSchema, { kind: { case: "numberValue", value } });
  expect(inputOf({ inputJson: NONE, input: number(1.5) })).toBe("1.5");
  expect(outcome(() => inputOf({ inputJson: NONE, input: number(Number.NaN) }))).toBe(
    "NUMBER_RANGE",
  );
  expect(outcome(() => inputOf({ inputJson: NONE, input: number(Number.POSITIVE_INFINITY) }))).toBe(
    "NUMBER_RANGE",
  );
  expect(inputOf({ inputJson: json("1"), input: number(Number.NaN) })).toBe("1");
});

test("a deadline is between a millisecond and thirty days (J17)", () => {
  const check = (given: Duration | undefined) =>
    durationMsOf("deadline", given, LIMITS.runDeadlineMsMax);
  const at = (seconds: bigint, nanos = 0) => create(DurationSchema, { seconds, nanos });
  const day = 86_400n;
  for (const good of [undefined, at(1n), at(0n, 1e6), at(30n * day)]) {
    expect(outcome(() => void check(good))).toBeUndefined();
  }
  for (const bad of [at(0n), at(-1n), at(0n, 1), at(30n * day, 1), at(10n ** 20n), at(1n, -1)]) {
    expect(outcome(() => void check(bad))).toBe("OUT_OF_RANGE");
  }
  expect(check(at(2n, 5e6))).toBe(2_005);
});

test("a definition has text, and not too much of it (D19)", () => {
  expect(outcome(() => definitionTextOf(undefined))).toBe("REQUIRED");
  expect(outcome(() => definitionTextOf("x".repeat(2 * 1024 * 1024 + 1)))).toBe("LIMIT_EXCEEDED");
});
