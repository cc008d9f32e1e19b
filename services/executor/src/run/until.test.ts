import type { Action } from "@pawl/core/action/kinds";
import { toShape } from "@pawl/core/action/shape";
import { compileUntil } from "@pawl/core/glue/until";
import { expect, test } from "vitest";
import { judged, returned, type WireResult } from "./outcome.ts";

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

test("an iteration that asks a person or hands its work off is not judged yet: the scheduler judges the answer (S2.37)", () => {
  const ask = { message: "Enough?", detailsJson: "", assignees: [], deadlineMs: 0 };
  const handOff = { node: "", workflow: "w", version: 0, inputJson: "", reason: "" };
  const asking = (action: Action): WireResult => ({
    case: "completed",
    value: { outputJson: Buffer.from("{}"), actions: [toShape(action)] },
  });
  const until = compileUntil("output.response.enough");
  for (const waiting of [
    asking({ type: "request_human_input", ...ask }),
    asking({ type: "handoff", ...handOff }),
  ])
    expect(judged(until, scope, waiting)).toBe(waiting);
  expect(judged(until, scope, returned({ output: {} }))).toMatchObject({ case: "failed" });
});

test("a failure is not judged", () => {
  const failure = returned({ failed: { cause: "x", message: "m", permanent: false } });
  expect(judged(compileUntil("true"), scope, failure)).toBe(failure);
});
