import { expect, test } from "vitest";
import { begin, signal } from "../../test/signal-run.ts";
import { completed, expanded, graphOf, startToyRun, type ToyRun } from "../../test/toy-run.ts";
import { referenceJson } from "../data/reference.ts";
import { fold } from "../log/fold.ts";
import { APPROVAL } from "../log/event.ts";
import { newRunState } from "../log/state.ts";
import { runId } from "../name/ids.ts";
import { onChildEnd } from "./child-end.ts";
import { onDecision } from "./decide.ts";

/** A run whose loop `m` ends by `until`, with its first iteration queued. */
function loop(body: object, until: string): ToyRun {
  const config = { until, max_iterations: 5, body };
  const run = startToyRun(graphOf({ nodes: [{ id: "m", type: "loop", config }] }));
  run.claim("m");
  run.report("m", expanded([0, 1, 2, 3, 4], true));
  return run;
}

const held = { kind: "held", reason: APPROVAL, phase: "output", durationMs: 1 } as const;

/** The iteration asks a person, and the person answers. */
function answer(run: ToyRun, iteration: number, responseJson: string): void {
  run.claim(`m#${iteration}`);
  run.report(`m#${iteration}`, held);
  const said = { decision: "approve", comment: "", requestId: "", responseJson } as const;
  const result = onDecision(run.state, { nodeIndex: 0, iteration, now: run.now, ...said });
  if (result.kind !== "accepted") throw new Error(result.kind);
  result.facts.forEach(run.append);
  run.plan();
}

/** The iteration starts a run, which ends with an output. */
function child(run: ToyRun, iteration: number, output: string): void {
  const childRunId = runId("0199a000-0000-7000-8000-0000000000c1");
  run.claim(`m#${iteration}`);
  const started = { kind: "child_run", childRunId, workflowId: "w", version: 0 } as const;
  run.report(`m#${iteration}`, { ...started, inputJson: "{}", durationMs: 1 });
  const end = { ...newRunState(childRunId, run.state.graph), status: "completed", output } as const;
  const result = onChildEnd(run.state, { nodeIndex: 0, iteration, child: end, now: run.now });
  if (result.kind !== "accepted") throw new Error(result.kind);
  result.facts.forEach(run.append);
  run.plan();
}

/** The loop has ended after so many iterations, and a fold of its log says the same. */
function expectEnded(run: ToyRun, iterations: number): void {
  expect(run.state.status).toBe("completed");
  expect(run.node("m").scope?.items.length).toBe(iterations);
  const again = fold(run.state.runId, run.state.graph, run.events);
  expect(again.nodes[0]).toEqual(run.state.nodes[0]);
}

test("until reads the answer of a person, of an approval and of a handler that asks (S3.30, X13)", () => {
  for (const body of [{ type: "approval", config: { message: "Enough?" } }, { type: "task" }]) {
    const run = loop(body, "output.response.enough && index == 1");
    answer(run, 1, '{"enough":true}');
    expect(run.execution("m#2").status).toBe("queued");
    answer(run, 2, '{"enough":true}');
    expectEnded(run, 2);
  }
});

test("until reads the output of a child run, of a subworkflow and of a handler that hands off (S3.30, X13)", () => {
  const run = loop({ type: "subworkflow", config: { workflow_id: "w" } }, "output.done");
  child(run, 1, '{"done":false}');
  child(run, 2, '{"done":true}');
  expectEnded(run, 2);
});

test("until reads the payload of a signal (S2.17)", () => {
  const body = { type: "await_signal", config: { name: "paid" } };
  const config = { until: "output.payload == 'last'", max_iterations: 5, body };
  const run = begin(graphOf({ nodes: [{ id: "m", type: "loop", config }] }));
  expect(signal(run, { payloadJson: '"first"' })).toBe("taken");
  expect(signal(run, { payloadJson: '"last"' })).toBe("taken");
  expectEnded(run, 2);
});

test("an until that has no truth fails its iteration by name, and so does one that reads a stored value", () => {
  const body = { type: "subworkflow", config: { workflow_id: "w" } };
  const faulty = loop(body, "output.n > 1");
  child(faulty, 1, '{"n":"many"}');
  expect(faulty.execution("m#1")).toMatchObject({ status: "failed" });
  expect(faulty.execution("m#1").message).toContain("until");

  const rows = referenceJson({ sha256: "a".repeat(64), bytes: 400_000 });
  for (const [until, isRead] of [
    ["size(output.rows) > 1", true],
    ["output.rows.first", true],
    ["has(output.done)", false],
    ["output.count > 1", false],
  ] as const) {
    const run = loop(body, until);
    child(run, 1, `{"rows":${rows},"count":2}`);
    const { status, message = "" } = run.execution("m#1");
    expect(status, until).toBe(isRead ? "failed" : "completed");
    expect(message.includes("stored outside of the log"), until).toBe(isRead);
  }
});

test("a map has no until: its items end it", () => {
  const config = { items: [1, 2], body: { type: "task" } };
  const run = startToyRun(graphOf({ nodes: [{ id: "m", type: "map", config }] }));
  run.claim("m");
  run.report("m", expanded([1, 2]));
  answer(run, 1, "true");
  run.complete("m#2", completed());
  expectEnded(run, 2);
});
