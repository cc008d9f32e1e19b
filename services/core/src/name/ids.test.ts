import { expect, test } from "vitest";
import { effectKey, isName, isUuid, nodeId, runId } from "./ids.ts";

test("a UUID is lower case and hyphenated, and nothing else (C1, C2)", () => {
  const uuid = "0199a000-0000-7000-8000-000000000001";
  expect(isUuid(uuid)).toBe(true);
  for (const text of [uuid.toUpperCase(), `{${uuid}}`, uuid.replaceAll("-", ""), `${uuid}\n`, ""])
    expect(isUuid(text), text).toBe(text === uuid);
});

test("a name is 1-128 plain characters that do not hide", () => {
  for (const text of ["a", "A-1.b_c", "0", "x".repeat(128)]) expect(isName(text), text).toBe(true);
  for (const text of ["", "_a", ".a", "a b", "ä", "x".repeat(129), "a\n", "a/b"])
    expect(isName(text), JSON.stringify(text)).toBe(false);
});

test("the effect key of a node execution is the same for every attempt (S0.38)", () => {
  expect(effectKey(runId("r"), nodeId("n"), 0)).toBe("r/n/0");
});
