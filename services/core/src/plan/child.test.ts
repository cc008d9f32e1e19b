import { expect, test } from "vitest";
import { completed, expanded, sketch, startToyRun, type ToyRun } from "../../test/toy-run.ts";
import { LIMITS } from "../data/limits.ts";
import { runId } from "../name/ids.ts";
import { newRunState } from "../log/state.ts";
import { type ChildEnd, onChildEnd } from "./child-end.ts";
import type { Outcome } from "./result.ts";
import { onCancel } from "./stop.ts";

const CHILD = runId("0199a000-0000-7000-8000-0000000000c1");
const childRun: Outcome = {
  kind: "child_run",
  childRunId: CHILD,
  workflowId: "other",
  version: 0,
  inputJson: "{}",
  durationMs: 1,
};
const sub = (more: object = {}) => ({
  id: "n",
  type: "subworkflow",
  config: { workflow_id: "other" },
  ...more,
});

/** A run whose subworkflow waits for its child. */
function setup(node: object = sub(), edges = ["s>n", "n>after"]): ToyRun {
  const run = startToyRun(sketch(["s", node as { id: string }, "after"], edges));
  run.complete("s");
  run.claim("n");
  run.report("n", childRun);
  return run;
}

function end(run: ToyRun, child: Partial<ChildEnd["child"]>, iteration = 0): string {
  const result = onChildEnd(run.state, {
    nodeIndex: run.index("n"),
    iteration,
    child: { ...newRunState(CHILD, run.state.graph), status: "completed", output: "7", ...child },
    now: run.now,
  });
  if (result.kind === "accepted") result.facts.forEach(run.append);
  run.plan();
  return result.kind;
}

test("a subworkflow waits without a claim for the run it asked for (S3.30)", () => {
  const run = setup();
  expect(run.node("n")).toMatchObject({ status: "waiting", childRunId: CHILD });
  expect(run.events.at(-2)?.payload).toEqual({ reason: "child_run", childRunId: CHILD });
  expect(run.state.status).toBe("waiting");
  expect(run.report("n", childRun).kind).toBe("duplicate");
  expect(run.report("n", completed("late")).kind).toBe("duplicate");
});

test("the child's output is the node's (S3.30)", () => {
  const run = setup();
  expect(end(run, {})).toBe("accepted");
  expect(run.node("n")).toMatchObject({ status: "completed", output: "7", childRunId: undefined });
  expect(run.node("after").status).toBe("queued");
  expect(run.state.status).toBe("running");
  expect(end(run, {})).toBe("stale");
});

test("a child that failed fails the node by name; an error edge continues the run; a retry policy starts another child", () => {
  const failed = { status: "failed", message: "node x failed" } as const;
  const hard = setup();
  end(hard, failed);
  expect(hard.node("n").message).toContain(`child run ${CHILD} ended with failed: node x failed`);
  const soft = setup(sub(), ["s>n", "n:error>after"]);
  end(soft, failed);
  expect(soft.node("n")).toMatchObject({ status: "completed", handle: "error" });
  const again = setup(sub({ retry: { attempts: 2 } }));
  end(again, failed);
  expect(again.node("n")).toMatchObject({ status: "queued", attempt: 2 });
  const cancelled = setup(sub({ retry: { attempts: 2 } }));
  end(cancelled, { status: "cancelled", message: "by hand" });
  expect(cancelled.node("n").status).toBe("failed");
});

test("the end of another run, and an end after a cancellation, change nothing", () => {
  const run = setup();
  const other = runId("0199a000-0000-7000-8000-0000000000c2");
  expect(end(run, { runId: other })).toBe("stale");
  const stop = onCancel(run.state, { reason: "enough", requestId: "", now: 0 });
  if (stop.kind === "accepted") stop.facts.forEach(run.append);
  expect(run.node("n").childRunId).toBeUndefined();
  expect(end(run, {})).toBe("stale");
});

test("only a subworkflow starts a run, and not below too many", () => {
  const task = startToyRun(sketch(["s", "a"], ["s>a"]));
  task.complete("s");
  task.claim("a");
  task.report("a", childRun);
  expect(task.node("a").status).toBe("failed");
  const deep = startToyRun(sketch(["s", sub()], ["s>n"]));
  deep.state.depth = LIMITS.runDepth;
  deep.complete("s");
  deep.claim("n");
  deep.report("n", childRun);
  expect(deep.node("n").message).toContain("at most 10 deep");
});

test("an iteration of a map may wait for a child of its own (S3.30)", () => {
  const body = { type: "subworkflow", config: { workflow_id: "other" } };
  const run = startToyRun(
    sketch(["s", { id: "n", type: "map", config: { items: [], body, parallelism: 1 } }], ["s>n"]),
  );
  run.complete("s");
  run.claim("n");
  run.report("n", expanded([1]));
  run.claim("n#1");
  run.report("n#1", childRun);
  expect(run.execution("n#1")).toMatchObject({ status: "waiting", childRunId: CHILD });
  expect(run.node("n").scope?.openCount).toBe(1);
  expect(end(run, {}, 1)).toBe("accepted");
  expect(run.node("n").output).toBe("[7]");
});
