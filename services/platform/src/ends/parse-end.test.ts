import { expect, test } from "vitest";
import { parseEnd } from "./parse-end.ts";

const A = "0198c0de-0000-7000-8000-00000000000a";
const B = "0198c0de-0000-7000-8000-00000000000b";

test("a payload that is not a terminal event is ignored, because a hint follows it", () => {
  const columns = [A, 3, "run.completed", "", 0, 0, 0, { hasFailures: false }, null, 5];
  const event = { runId: A, seq: 3, type: "run.completed", at: 5 };
  expect(parseEnd(JSON.stringify(columns))).toMatchObject(event);
  const others = [
    columns.with(0, "x"),
    columns.with(1, "3"),
    columns.with(2, "node.completed"),
    columns.with(7, null),
    columns.with(8, 1),
    columns.slice(0, -1),
    {},
    [],
  ];
  for (const payload of ["", "*", "[", ...others.map((other) => JSON.stringify(other))])
    expect(parseEnd(payload)).toBeUndefined();
});

test("extra columns from a scheduler of the previous build are ignored", () => {
  const columns = [A, 3, "run.completed", "", 0, 0, 0, { hasFailures: false }, null, 5];
  expect(parseEnd(JSON.stringify([...columns, B, 2, 9]))).toEqual(
    parseEnd(JSON.stringify(columns)),
  );
});
