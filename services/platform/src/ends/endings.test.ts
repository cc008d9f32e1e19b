import { runId } from "@pawl/core/name/ids";
import { expect, test } from "vitest";
import { Endings, ENDINGS_MAX } from "./endings.ts";

const RUN = runId("0198c0de-0000-7000-8000-000000000001");
const other = (index: number) =>
  runId(`0198c0de-0000-7000-8000-${String(index + 1_000).padStart(12, "0")}`);

test("a noted end is found, with the seq that the log reaches", () => {
  const endings = new Endings();
  const mark = endings.mark();
  expect(endings.stateOf(RUN, mark)).toEqual({ kind: "alive" });
  endings.note(RUN, 7);
  expect(endings.stateOf(RUN, mark)).toEqual({ kind: "over", seq: 7 });
  expect(endings.stateOf(other(1), mark)).toEqual({ kind: "alive" });
});

test("if notifications may have been lost since the mark, the state of a run is unknown", () => {
  const endings = new Endings();
  const before = endings.mark();
  endings.interrupt();
  expect(endings.stateOf(RUN, before)).toEqual({ kind: "unknown" });
  expect(endings.stateOf(RUN, endings.mark())).toEqual({ kind: "alive" });
});

test("as many ends as are promised are kept; with more since the mark, the state of other runs is unknown", () => {
  const endings = new Endings();
  for (let index = 0; index < ENDINGS_MAX / 2; index += 1) endings.note(other(index), 1);
  const mark = endings.mark();
  endings.note(RUN, 7);
  for (let index = 1; index < ENDINGS_MAX; index += 1) endings.note(other(index), 2);
  expect(endings.stateOf(RUN, mark)).toEqual({ kind: "over", seq: 7 });
  expect(endings.stateOf(other(ENDINGS_MAX), mark)).toEqual({ kind: "alive" });
  endings.note(other(1), 3);
  expect(endings.stateOf(other(ENDINGS_MAX), mark)).toEqual({ kind: "unknown" });
});
