import { expect, test } from "vitest";
import { checkJson, STORED_LIMITS, VALUE_LIMITS } from "./json.ts";
import {
  extractLarge,
  hasReference,
  isReference,
  referenceJson,
  referencesIn,
  withValues,
  type Reference,
} from "./reference.ts";

const DIGEST = "ab".repeat(32);
const REFERENCE = referenceJson({ sha256: DIGEST, bytes: 5_000 });

/** Takes values out and remembers them. Digests count up. */
function taking() {
  const values = new Map<string, string>();
  const take = (json: string): Reference => {
    const sha256 = values.size.toString(16).padStart(64, "0");
    values.set(sha256, json);
    return { sha256, bytes: Buffer.byteLength(json) };
  };
  return { values, take };
}

test("a value comes back to the letter from its references (S2.34)", () => {
  for (const json of [
    `{"rows":[${"1,".repeat(900)}1],"count":900}`,
    JSON.stringify("x".repeat(3_000)),
    `[${JSON.stringify("é".repeat(2_000))},2]`,
    JSON.stringify({ a: "y".repeat(1_500), b: "z".repeat(1_400), c: "w" }),
  ]) {
    const { values, take } = taking();
    const made = extractLarge(json, { inlineBytes: 1_024, mayBeWhole: true, take });
    expect(Buffer.byteLength(made)).toBeLessThanOrEqual(1_024);
    expect(
      referencesIn(made)
        .map(({ sha256 }) => sha256)
        .toSorted(),
    ).toEqual([...values.keys()]);
    expect(withValues(made, values)).toBe(json);
  }
});

test("the largest members leave the log first, and small ones stay readable (S2.34)", () => {
  const json = JSON.stringify({ small: 1, large: "x".repeat(2_000), larger: "y".repeat(9_000) });
  const { values, take } = taking();
  const made = extractLarge(json, { inlineBytes: 4_096, mayBeWhole: true, take });
  expect(made).toMatch(/^\{"small":1,"large":"x+","larger":\{"\$pawl\.value":/);
  expect([...values.values()]).toEqual([JSON.stringify("y".repeat(9_000))]);
});

test("a value of many small members is taken as a whole, or stays as it is", () => {
  const json = JSON.stringify(Array.from({ length: 1_000 }, (_, index) => index));
  const { take } = taking();
  expect(isReference(extractLarge(json, { inlineBytes: 1_024, mayBeWhole: true, take }))).toBe(
    true,
  );
  expect(extractLarge(json, { inlineBytes: 1_024, mayBeWhole: false, take })).toBe(json);
});

test("a text that contains the spelling of a reference is no reference", () => {
  const quoted = JSON.stringify({ note: REFERENCE });
  expect(hasReference(quoted)).toBe(false);
  expect(referencesIn(quoted)).toEqual([]);
  expect(checkJson(quoted)).toMatchObject({ ok: true });
});

test.each([
  ["the spelling", REFERENCE],
  ["other spaces", REFERENCE.replace(":", " : ")],
  ["an escaped key", REFERENCE.replace("$", "\\u0024")],
  ["any value", '{"$pawl.value":1}'],
])("users cannot write a reference: %s", (_, json) => {
  expect(checkJson(json)).toMatchObject({ ok: false, reason: "RESERVED_KEY" });
  expect(checkJson(`[{"a":${json}}]`)).toMatchObject({ ok: false, reason: "RESERVED_KEY" });
});

test("only the exact spelling is accepted where references may be", () => {
  const limits = { ...VALUE_LIMITS, references: true };
  expect(checkJson(`{"a":[${REFERENCE}]}`, limits)).toMatchObject({ ok: true });
  for (const json of [
    REFERENCE.replace(":", ": "),
    REFERENCE.replace("}}", ',"more":1}}'),
    `{"a":1,${REFERENCE.slice(1)}`,
    '{"$pawl.value":{"sha256":"00","bytes":1}}',
  ])
    expect(checkJson(json, limits)).toMatchObject({ ok: false, reason: "RESERVED_KEY" });
  expect(checkJson(REFERENCE, STORED_LIMITS)).toMatchObject({ ok: false, reason: "RESERVED_KEY" });
});
