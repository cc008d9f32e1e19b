import { expect, test } from "vitest";
import { completed, sketch, startToyRun } from "../../test/toy-run.ts";
import { onCancel, onDeadline } from "./stop.ts";

const setup = () => {
  const run = startToyRun(sketch(["a", "b", "c", "d"], ["a>b", "a>c", "c>d"]));
  run.complete("a");
  const epoch = run.claim("b");
  return { run, epoch };
};

test("a cancel ends every unsettled node and then the run (S1.38, S1.39, S1.40)", () => {
  const { run, epoch } = setup();
  const stop = onCancel(run.state, { reason: "no longer needed", requestId: "r1", now: 0 });
  if (stop.kind === "accepted") stop.facts.forEach(run.append);
  expect(run.types().slice(-4)).toEqual([
    "node.cancelled b",
    "node.cancelled c",
    "node.cancelled d",
    "run.cancelled",
  ]);
  expect(run.state).toMatchObject({
    status: "cancelled",
    message: "no longer needed",
    unsettledCount: 0,
  });
  expect(run.node("a").status).toBe("completed");
  expect(run.report("b", completed(), epoch)).toEqual({ kind: "stale" });
});

test("a cancel of a finished run changes nothing", () => {
  const { run } = setup();
  const cancel = () => onCancel(run.state, { reason: "x", requestId: "", now: 0 });
  const stop = cancel();
  if (stop.kind === "accepted") stop.facts.forEach(run.append);
  expect(cancel()).toEqual({ kind: "finished" });
});

test("a run that passes its deadline times out, and not a millisecond before (S2.12, X15)", () => {
  const { run } = setup();
  const { deadlineAt } = run.state;
  expect(onDeadline(run.state, deadlineAt - 1)).toEqual({ kind: "early" });
  const stop = onDeadline(run.state, deadlineAt);
  if (stop.kind === "accepted") stop.facts.forEach(run.append);
  expect(run.types().at(-1)).toBe("run.timed_out");
  expect(run.state.status).toBe("timeout");
  expect(onDeadline(run.state, deadlineAt)).toEqual({ kind: "finished" });
});
