import { expect, test } from "vitest";
import { completed, expanded, sketch, startToyRun } from "../../test/toy-run.ts";
import { fold } from "../log/fold.ts";
import { decide } from "./plan.ts";

const join = { id: "j", join: "any", late: "cancel" } as const;

test("when a join with late: cancel fires, nodes that still run or wait towards it are cancelled (S3.21, X11)", () => {
  // b runs, c1 runs towards c2, which has not begun; d wins.
  const run = startToyRun(
    sketch(
      ["s", "b", "c1", "c2", "d", join],
      ["s>b", "s>c1", "c1>c2", "s>d", "b>j", "c2>j", "d>j"],
    ),
  );
  run.complete("s");
  const epoch = run.claim("b");
  run.claim("c1");
  run.complete("d");
  expect(run.node("j").status).toBe("queued");
  for (const id of ["b", "c1", "c2"])
    expect(run.node(id)).toMatchObject({ status: "cancelled", message: "too late for j" });
  expect(run.report("b", completed("late"), epoch).kind).toBe("stale");
  run.complete("j");
  expect(run.state).toMatchObject({ status: "completed", hasFailures: false });
  // Read back from the log, nothing more follows.
  expect(decide(fold(run.state.runId, run.state.graph, run.events), run.now)).toEqual([]);
});

test("a late parent that another node waits for keeps running", () => {
  const run = startToyRun(
    sketch(["s", "b", "d", join, "other"], ["s>b", "s>d", "b>j", "d>j", "b>other"]),
  );
  run.complete("s");
  run.complete("d");
  expect(run.node("b").status).toBe("queued");
  run.complete("b");
  expect(run.node("other").status).toBe("queued");
});

test("a late map is cancelled with its iterations, and n of m cancels those beyond n (X11)", () => {
  const map = { id: "m", type: "map", config: { items: [], body: { type: "task" } } };
  const two = { id: "j", join: { n_of_m: 2 }, late: "cancel" };
  const run = startToyRun(
    sketch(["s", map, "b", "d", two], ["s>m", "s>b", "s>d", "m>j", "b>j", "d>j"]),
  );
  run.complete("s");
  run.claim("m");
  run.report("m", expanded([1, 2]));
  run.claim("m#1");
  run.complete("b");
  expect(run.node("j").status).toBe("pending");
  run.complete("d");
  expect(run.node("j").status).toBe("queued");
  expect([run.node("m"), run.execution("m#1"), run.execution("m#2")]).toMatchObject([
    { status: "cancelled" },
    { status: "cancelled" },
    { status: "cancelled" },
  ]);
  run.complete("j");
  expect(run.state.status).toBe("completed");
});
