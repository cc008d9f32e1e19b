import { runId } from "@pawl/core/name/ids";
import { expect, test } from "vitest";
import { Endings, ENDINGS_MAX } from "./endings.ts";
import { RUN } from "./memory-log.fixture.ts";

const other = (index: number) =>
  runId(`0198c0de-0000-7000-8000-${String(index + 1_000).padStart(12, "0")}`);

test("a run that was said to be over is known to be, with where its log ends", () => {
  const endings = new Endings();
  const mark = endings.mark();
  expect(endings.heard(RUN, mark)).toEqual({ kind: "alive" });
  endings.note(RUN, 7);
  expect(endings.heard(RUN, mark)).toEqual({ kind: "over", seq: 7 });
  expect(endings.heard(other(1), mark)).toEqual({ kind: "alive" });
});

test("hints that may have been lost since the mark say nothing of a run", () => {
  const endings = new Endings();
  const before = endings.mark();
  endings.interrupt();
  expect(endings.heard(RUN, before)).toEqual({ kind: "unheard" });
  expect(endings.heard(RUN, endings.mark())).toEqual({ kind: "alive" });
});

test("as many ends as are promised are remembered; with more since the mark nothing is said of the others", () => {
  const endings = new Endings();
  // Begins in the middle of a half.
  for (let index = 0; index < ENDINGS_MAX / 2; index += 1) endings.note(other(index), 1);
  const mark = endings.mark();
  endings.note(RUN, 7);
  for (let index = 1; index < ENDINGS_MAX; index += 1) endings.note(other(index), 2);
  expect(endings.heard(RUN, mark)).toEqual({ kind: "over", seq: 7 });
  expect(endings.heard(other(ENDINGS_MAX), mark)).toEqual({ kind: "alive" });
  endings.note(other(1), 3);
  expect(endings.heard(other(ENDINGS_MAX), mark)).toEqual({ kind: "unheard" });
});
