import { expect, test } from "vitest";
import {
  compensation,
  task,
  undo,
  diamond,
  done,
  cancel,
  queued,
  lastOf,
} from "../../test/saga.ts";
import { completed, RUN, sketch, startToyRun, type ToyRun } from "../../test/toy-run.ts";
import { contextJson } from "../log/context.ts";
import type { Fact } from "../log/event.ts";
import { fold, newRunState } from "../log/fold.ts";
import { readSnapshot, SNAPSHOT_FORMAT, writeSnapshot } from "../log/snapshot.ts";
import { undoOf } from "../log/undo-iteration.ts";
import { view } from "../log/view.ts";
import { nodeId, runId } from "../name/ids.ts";
import { onChildEnd } from "./child-end.ts";
import type { Outcome } from "./result.ts";

const CHILD = runId("0199a000-0000-7000-8000-0000000000c1");
const sub = { id: "n", type: "subworkflow", config: { workflow_id: "w" } };
const asksChild: Outcome = {
  ...{ kind: "child_run", childRunId: CHILD, workflowId: "w", version: 0, inputJson: "{}" },
  ...{ compensates: true, durationMs: 1 },
};

function withChild(): ToyRun {
  const run = startToyRun(sketch(["s", task("a"), { ...sub, compensation }], ["s>a", "a>n"]));
  done(run, "s", "a");
  run.claim("n");
  run.report("n", asksChild);
  cancel(run);
  return run;
}

function childEnds(run: ToyRun, status: "completed" | "cancelled"): void {
  const child = { ...newRunState(CHILD, run.state.graph), status, output: "7" };
  const place = { nodeIndex: run.index("n"), iteration: 0, now: run.now };
  const end = onChildEnd(run.state, { ...place, child });
  if (end.kind === "accepted") end.facts.forEach(run.append);
  run.plan();
}

test("a run waits until its child has undone its own nodes (S2.16)", () => {
  const run = withChild();
  expect(run.state.status).toBe("compensating");
  expect(run.node("n").status).toBe("waiting");
  expect(queued(run)).toEqual([]);
  childEnds(run, "cancelled");
  expect(run.node("n").status).toBe("cancelled");
  expect(queued(run)).toEqual(["a#0"]);
});

test("a child that completes as its parent is cancelled is undone by the compensation of its node (S2.16)", () => {
  const run = withChild();
  childEnds(run, "completed");
  expect(queued(run)).toEqual(["n#0"]);
  run.complete(undo("n"));
  expect(queued(run)).toEqual(["a#0"]);
});

test("a run that only undoes an execution of another run completes with what its compensation gives (S2.16)", () => {
  const graph = sketch(["s", task("a"), "z"], ["s>a", "a>z"]);
  const undoes = { runId: CHILD, nodeId: nodeId("a"), iteration: 3 };
  const start = (): ToyRun => {
    const run = startToyRun(graph);
    const started = run.events[0] as Extract<Fact, { type: "run.started" }>;
    const fact = {
      ...started,
      payload: { ...started.payload, undoes },
      value: '{"input":{"n":1},"output":5}',
    };
    const state = fold(RUN, graph, [{ ...fact, seq: 1, at: 0 }]);
    run.events.length = 1;
    Object.assign(run.state, state, { frontier: new Set() });
    run.plan();
    return run;
  };
  const run = start();
  expect(run.state).toMatchObject({ status: "compensating", input: '{"n":1}' });
  expect(JSON.parse(contextJson(run.state, 1, undoOf(3)))).toMatchObject({ vars: { output: 5 } });
  run.complete(undo("a", 3), "ok");
  expect(lastOf(run)).toMatchObject({ type: "run.completed", value: '"ok"' });
  const other = start();
  other.fail(undo("a", 3));
  expect(lastOf(other)).toMatchObject({ type: "run.failed", payload: { failedNodeId: "a" } });
});

test("a snapshot keeps the stack, and the view of clients shows the compensation (S2.16)", () => {
  const run = diamond();
  done(run, "s", "a", "b");
  cancel(run);
  run.claim(undo("b"));
  const body = writeSnapshot(run.state);
  expect(readSnapshot(RUN, run.state.graph, { format: SNAPSHOT_FORMAT, body })).toEqual(run.state);
  run.report(undo("b"), completed());
  run.fail(undo("a"));
  const shown = view(run.events);
  expect(shown).toMatchObject({ status: "cancelled", compensation: { undone: 1, left: 1 } });
  expect(shown.nodes.get(undo("b"))).toMatchObject({ status: "completed", undoes: 0, item: 0 });
  expect(shown.nodes.get("b")).toMatchObject({ status: "completed", settledCount: 0 });
});

test("a log that undoes what did not complete is corrupt (S2.16)", () => {
  const run = diamond();
  done(run, "s", "a");
  const place = { nodeId: nodeId("a"), attempt: 1, epoch: 0 };
  const queue = (iteration: number): Fact => ({
    ...place,
    iteration,
    type: "node.queued",
    payload: {},
  });
  expect(() => run.append(queue(undoOf(0)))).toThrow("not compensated");
  cancel(run);
  expect(() => run.append(queue(undoOf(1)))).toThrow("has no compensation");
});
