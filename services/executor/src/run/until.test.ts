import { compileUntil } from "@pawl/core/glue/until";
import { expect, test } from "vitest";
import { judged, returned } from "./outcome.ts";

const scope = { ctx: {}, input: {}, item: { last: true }, index: 3, previous: { n: 1 } };
const judge = (until: string, output: unknown = { n: 2 }) =>
  judged(compileUntil(until), scope, returned({ output }));

test("the condition of a loop sees the item, its index, the output and the one before (S3.30)", () => {
  expect(judge("item.last && index == 3 && output.n > previous.n")).toMatchObject({
    case: "completed",
    value: { stop: true },
  });
  expect(judge("output.n > 5")).toMatchObject({ case: "completed", value: { stop: false } });
  expect(judge("output.n")).toMatchObject({ case: "completed", value: { stop: true } });
});

test("a condition that cannot be judged fails the iteration by name (T7, T13)", () => {
  expect(judge("output.missing")).toMatchObject({ value: { cause: "missing_variable" } });
  expect(judge("output > 1")).toMatchObject({
    value: { cause: "condition_type", permanent: true },
  });
  expect(judge("(")).toMatchObject({ value: { cause: "config_invalid" } });
});

test("a failure is not judged", () => {
  const failure = returned({ failed: { cause: "x", message: "m", permanent: false } });
  expect(judged(compileUntil("true"), scope, failure)).toBe(failure);
});
