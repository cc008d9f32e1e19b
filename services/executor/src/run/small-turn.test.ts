import { referencesIn, withValues } from "@pawl/core/data/reference";
import { referenceOf } from "@pawl/platform/values/value-store";
import { expect, test } from "vitest";
import { smallTurn } from "./small-turn.ts";

function small(output: unknown, inlineBytes: number) {
  const values = new Map<string, string>();
  const take = (json: string) => {
    const reference = referenceOf(json);
    values.set(reference.sha256, json);
    return reference;
  };
  const json = JSON.stringify(output);
  return { json, made: smallTurn(json, { inlineBytes, take }), values };
}

const call = (at: number, size: number) => ({
  ...{ id: `call_${at}`, name: "add" },
  arguments: { text: String(at).repeat(size) },
});

test("the arguments of single calls leave the log, and the list of calls stays in it (S2.34)", () => {
  const output = { text: "", tool_calls: [call(1, 2_000), call(2, 3_000), call(3, 9)], media: [] };
  const { json, made, values } = small(output, 1_024);
  expect(made.length).toBeLessThan(1_024);
  const { tool_calls: calls } = JSON.parse(made) as typeof output;
  expect(calls.map(({ id }) => id)).toEqual(["call_1", "call_2", "call_3"]);
  expect(calls.map((each) => referencesIn(JSON.stringify(each.arguments)).length)).toEqual([
    1, 1, 0,
  ]);
  expect(withValues(made, values)).toBe(json);
});

test("a large text of a turn leaves the log before its small arguments (S2.34)", () => {
  const { json, made, values } = small(
    { text: "x".repeat(9_000), tool_calls: [call(1, 9)] },
    1_024,
  );
  expect(made).toContain('"arguments":{"text":"111111111"}');
  expect([...values.values()]).toEqual([JSON.stringify("x".repeat(9_000))]);
  expect(withValues(made, values)).toBe(json);
});
