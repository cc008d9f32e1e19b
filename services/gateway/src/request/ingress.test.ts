import { create } from "@bufbuild/protobuf";
import { type Duration, DurationSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import { expect, test } from "vitest";
import {
  checkCursor,
  checkCursorText,
  checkDuration,
  checkDefinitionText,
  checkInput,
  checkLine,
  checkName,
  checkPageSize,
  checkRequestId,
  checkRunId,
} from "./ingress.ts";

const NONE = new Uint8Array(0);
const json = (text: string): Uint8Array => Buffer.from(text);

/** The rule a call breaks, or its result. */
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
  expect(checkRunId(id.toUpperCase())).toBe(id);
  for (const bad of [
    "",
    "x",
    `{${id}}`,
    id.replaceAll("-", ""),
    `${id}\n`,
    `${id.slice(0, -1)}g`,
  ]) {
    expect(outcome(() => checkRunId(bad))).toBe("BAD_ID");
  }
});

test("names, lines and request ids are short and printable", () => {
  expect(checkName("workflow_id", "orders.v2")).toBe("orders.v2");
  for (const bad of ["", "_x", ".x", "a/b", "x".repeat(129), "é"]) {
    expect(outcome(() => checkName("workflow_id", bad))).toBe("BAD_ID");
  }
  expect(checkLine("reason", "naïve ☂ reason", 200)).toBe("naïve ☂ reason");
  expect(outcome(() => checkLine("reason", "a\u0000b", 200))).toBe("NOT_PRINTABLE");
  expect(outcome(() => checkLine("reason", "a\nb", 200))).toBe("NOT_PRINTABLE");
  expect(outcome(() => checkLine("reason", "x".repeat(201), 200))).toBe("TOO_LONG");
  for (const bad of ["x".repeat(256), "two words", "naïve", "a\nb"]) {
    expect(outcome(() => checkRequestId(bad))).toBe("BAD_ID");
  }
  expect(checkRequestId("mine")).toBe("mine");
  expect(checkRequestId("")).not.toBe(checkRequestId(""));
});

test("page sizes have a default, a ceiling and no negatives (C7)", () => {
  const bounds = { default: 50, max: 200 };
  expect([0, 7, 1e9].map((size) => checkPageSize(size, bounds))).toEqual([50, 7, 200]);
  expect(outcome(() => checkPageSize(-1, bounds))).toBe("OUT_OF_RANGE");
});

test("cursors are whole numbers of digits (C4)", () => {
  expect([checkCursorText("c", "0"), checkCursorText("c", "42"), checkCursor("c", 7n)]).toEqual([
    0, 42, 7,
  ]);
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
    expect(outcome(() => checkCursorText("c", bad))).toBe("BAD_CURSOR");
  }
  expect(outcome(() => checkCursor("c", 2n ** 63n))).toBe("BAD_CURSOR");
});

test("exact JSON is checked and passed on as it is (J1-J14)", () => {
  const exact = json('{"a": 1.0}');
  expect(checkInput(exact, undefined)).toBe(exact);
  expect(Buffer.from(checkInput(NONE, undefined)).toString()).toBe("null");
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
    expect(outcome(() => checkInput(json(text), undefined))).toBe(reason);
  expect(outcome(() => checkInput(Uint8Array.of(0x22, 0xff, 0x22), undefined))).toBe("BAD_UNICODE");
});

test("a Value becomes JSON, and what JSON has no word for is refused (J7)", () => {
  const number = (value: number) => create(ValueSchema, { kind: { case: "numberValue", value } });
  expect(Buffer.from(checkInput(NONE, number(1.5))).toString()).toBe("1.5");
  expect(outcome(() => checkInput(NONE, number(Number.NaN)))).toBe("NUMBER_RANGE");
  expect(outcome(() => checkInput(NONE, number(Number.POSITIVE_INFINITY)))).toBe("NUMBER_RANGE");
  expect(checkInput(json("1"), number(Number.NaN))).toEqual(json("1"));
});

test("a deadline is between a millisecond and thirty days (J17)", () => {
  const check = (given: Duration | undefined) =>
    checkDuration("deadline", given, LIMITS.runDeadlineMsMax);
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
  expect(outcome(() => checkDefinitionText(undefined))).toBe("REQUIRED");
  expect(outcome(() => checkDefinitionText("x".repeat(2 * 1024 * 1024 + 1)))).toBe(
    "LIMIT_EXCEEDED",
  );
});
