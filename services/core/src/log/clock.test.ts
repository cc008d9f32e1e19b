import { EMPTY_LEDGER } from "./ledger.ts";
import { expect, test } from "vitest";
import { completed, sketch, startToyRun, type ToyRun } from "../../test/toy-run.ts";
import { onDecision } from "../plan/decide.ts";
import { onChildEnd } from "../plan/child-end.ts";
import { onDeadline } from "../plan/stop.ts";
import { runId } from "../name/ids.ts";
import { fold } from "./fold.ts";

const HOLD = { kind: "held", reason: "moderation_hold", phase: "output", durationMs: 1 } as const;
const CHILD = runId("0199a000-0000-7000-8000-0000000000c1");

/** A run with two nodes beside each other and one behind `a`. */
function setup(): ToyRun {
  const nodes = ["s", "a", { id: "b", type: "subworkflow", config: { workflow_id: "w" } }, "c"];
  const run = startToyRun(sketch(nodes, ["s>a", "s>b", "a>c"]));
  run.complete("s");
  run.claim("a");
  run.claim("b");
  return run;
}

const hold = (run: ToyRun) => run.report("a", { ...HOLD, outputJson: "1" });

const startChild = (run: ToyRun) =>
  run.report("b", {
    kind: "child_run",
    childRunId: CHILD,
    workflowId: "w",
    version: 0,
    inputJson: "null",
    durationMs: 1,
  });

function approve(run: ToyRun): void {
  const place = { nodeIndex: run.index("a"), iteration: 0, requestId: "r", now: run.now };
  const result = onDecision(run.state, { ...place, decision: "approve", comment: "" });
  if (result.kind === "accepted") result.facts.forEach(run.append);
  run.plan();
}

/** A child that began with its parent's deadline, had its clock stopped for so long, and ended. */
function endChild(run: ToyRun, status: "completed" | "timeout", stoodMs: number) {
  const { firstDeadlineAt } = run.state;
  const never = { waitingSince: undefined, clockStoppedAt: undefined, startAt: undefined };
  const clock = { ...never, firstDeadlineAt };
  const child = { ...clock, status, deadlineAt: firstDeadlineAt + stoodMs };
  const clean = { outputTaint: undefined, taintLabels: new Set<string>(), ledger: EMPTY_LEDGER };
  const about = { runId: CHILD, output: "1", message: undefined, ...clean, ...child };
  const place = { nodeIndex: run.index("b"), iteration: 0, now: run.now };
  const result = onChildEnd(run.state, { ...place, child: about });
  if (result.kind === "accepted") result.facts.forEach(run.append);
  run.plan();
}

test("a run that waited only for people resumes with its deadline moved by that time, as its log shows (X15)", () => {
  const run = setup();
  const { deadlineAt } = run.state;
  run.report("b", completed());
  run.now = 2_000;
  hold(run);
  expect(run.state).toMatchObject({
    status: "waiting",
    waitingSince: 2_000,
    clockStoppedAt: 2_000,
  });
  run.now = deadlineAt + 5_000;
  expect(onDeadline(run.state, run.now)).toEqual({ kind: "early" });
  approve(run);
  const stood = deadlineAt + 5_000 - 2_000;
  expect(run.events.at(-1)?.payload).toMatchObject({ deadlineAt: deadlineAt + stood });
  expect(run.state).toMatchObject({
    status: "running",
    deadlineAt: deadlineAt + stood,
    waitingSince: undefined,
    clockStoppedAt: undefined,
  });
  expect(fold(run.state.runId, run.state.graph, run.events)).toEqual(run.state);
  expect(onDeadline(run.state, deadlineAt + stood)).toMatchObject({ kind: "accepted" });
});

test("time counts while something else of the run is under way (X15)", () => {
  const run = setup();
  const { deadlineAt } = run.state;
  hold(run);
  run.now = 9_000;
  approve(run);
  expect(run.state).toMatchObject({ status: "running", deadlineAt });
});

test("the clock stops once the run waits for no child run any more (X15)", () => {
  const run = setup();
  const { deadlineAt } = run.state;
  hold(run);
  startChild(run);
  expect(run.state).toMatchObject({ status: "waiting", clockStoppedAt: undefined, childCount: 1 });
  run.now = 4_000;
  endChild(run, "completed", 0);
  expect(run.state).toMatchObject({ status: "waiting", clockStoppedAt: 4_000, childCount: 0 });
  run.now = 10_000;
  approve(run);
  expect(run.state.deadlineAt).toBe(deadlineAt + 6_000);
});

test("a parent resumes with its deadline moved by the time that its child waited for people (X15)", () => {
  const run = setup();
  const { deadlineAt } = run.state;
  run.report("a", completed());
  startChild(run);
  run.complete("c");
  run.now = deadlineAt + 20_000;
  expect(onDeadline(run.state, run.now)).toEqual({ kind: "early" });
  endChild(run, "completed", 30_000);
  expect(run.types().slice(-3)).toEqual([
    "run.status.changed",
    "node.completed b",
    "run.completed",
  ]);
  expect(run.state.deadlineAt).toBe(deadlineAt + 30_000);
});

test("a child that passes the deadline it has from its parent ends the parent with it (S1.40)", () => {
  const run = setup();
  run.report("a", completed());
  startChild(run);
  run.complete("c");
  run.now = run.state.deadlineAt + 700;
  endChild(run, "timeout", 700);
  expect(run.state).toMatchObject({ status: "timeout", deadlineAt: run.state.firstDeadlineAt });
  expect(run.events.at(-1)).toMatchObject({ payload: { deadlineAt: run.state.deadlineAt + 700 } });
  expect(run.node("b").status).toBe("cancelled");
});
