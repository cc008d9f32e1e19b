// Waits for signals in every place of a graph: paused runs, maps, loops, rounds, joins.

import { expect, test } from "vitest";
import {
  begin,
  due,
  expectFolded,
  outputOf,
  setupWait,
  signal,
  wait,
} from "../../test/signal-run.ts";
import { completed, graphOf, sketch } from "../../test/toy-run.ts";
import { workflowState } from "../log/workflow-state.ts";
import { onPause, onResume } from "./pause.ts";
import { onCancel } from "./stop.ts";

test("a paused run takes signals and timeouts, and runs what follows when it is resumed", () => {
  const run = setupWait();
  const note = { scope: "run", who: "ada", reason: "" } as const;
  const paused = onPause(run.state, note);
  if (paused.kind === "accepted") paused.facts.forEach(run.append);
  expect(signal(run)).toBe("taken");
  expect([run.node("w").status, run.node("b").status]).toEqual(["completed", "pending"]);
  expect(signal(run)).toBe("kept");
  const resumed = onResume(run.state, note, run.now);
  if (resumed.kind === "accepted") resumed.facts.forEach(run.append);
  run.plan();
  expect(run.node("b").status).toBe("queued");
});

test("the state of a run tells that it waits for a signal, since when and until when (S2.17, S2.18, S2.19)", () => {
  const run = setupWait({ timeout_ms: 5_000 });
  const expected = { waitingFor: "signal", waitingSince: 1_000, waitingTimeoutAt: 6_000 };
  expect(workflowState(run.state, { workflowId: "w" })).toMatchObject(expected);
  signal(run);
  expect(workflowState(run.state, { workflowId: "w" }).waitingFor).toBeUndefined();
});

test("a run that undoes its nodes takes no more signals, but knows those that it got", () => {
  const undone = { id: "a", compensation: { type: "undo" } };
  const run = begin(sketch(["s", undone, wait("w"), wait("v")], ["s>a", "a>w", "s>v"]));
  run.complete("a");
  expect(signal(run, { requestId: "first" })).toBe("taken");
  const cancel = { reason: "enough", requestId: "", now: run.now };
  const stop = onCancel(run.state, cancel);
  if (stop.kind === "accepted") stop.facts.forEach(run.append);
  run.plan();
  expect(run.state.status).toBe("compensating");
  expect(run.state.waits.size).toBe(0);
  const count = run.events.length;
  expect(signal(run)).toBe("undoing");
  expect(signal(run, { requestId: "first" })).toBe("repeated");
  expect(run.events).toHaveLength(count);
});

test("the items of a map each wait, and take the signals in their order", () => {
  const body = { type: "await_signal", config: { name: "paid" } };
  const map = { id: "m", type: "map", config: { items: [1, 2, 3], body } };
  const run = begin(sketch(["s", map], ["s>m"]));
  expect(run.execution("m#2")).toMatchObject({ status: "waiting", attempt: 1 });
  expect(run.state).toMatchObject({ status: "waiting", blockedCount: 3 });
  for (const payloadJson of ["1", "2", "3"]) signal(run, { payloadJson });
  expect(outputOf(run, "m")).toMatchObject([{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
  expect(run.state.status).toBe("completed");
  expectFolded(run);
});

test("a loop waits for one signal after the other, until the payload ends it", () => {
  const body = { type: "await_signal", config: { name: "paid" } };
  const until = "output.payload.last == true";
  const loop = { id: "l", type: "loop", config: { until, body, max_iterations: 5 } };
  const run = begin(sketch(["s", loop], ["s>l"]));
  signal(run, { payloadJson: '{"last":false}' });
  expect(run.execution("l#2").status).toBe("waiting");
  signal(run, { payloadJson: '{"last":true}' });
  expect(run.node("l")).toMatchObject({ status: "completed" });
  expect(outputOf(run, "l")).toHaveLength(2);
  expectFolded(run);
});

test("a timeout of an item fails the item, because items have no handles", () => {
  const body = { type: "await_signal", config: { name: "paid", timeout_ms: 5 } };
  const map = { id: "m", type: "map", config: { items: [1], body } };
  const run = begin(sketch(["s", map], ["s>m"]));
  expect(due(run, "m#1")).toBe("accepted");
  expect(run.node("m").message).toContain("signal_timeout");
});

test("a new round of a node waits again", () => {
  const definition = {
    nodes: [
      { id: "s", type: "start" },
      wait("w"),
      {
        id: "c",
        type: "condition",
        config: { branches: [{ id: "again", when: "ctx.nodes.w.payload == 'again'" }] },
      },
      { id: "e", type: "end" },
    ],
    edges: [
      { source: "s", target: "w" },
      { source: "w", target: "c" },
      { source: "c", target: "w", source_handle: "again", loop: true },
      { source: "c", target: "e", source_handle: "else" },
    ],
  };
  const run = begin(graphOf(definition));
  signal(run, { payloadJson: '"again"' });
  expect(run.node("w")).toMatchObject({ status: "waiting", round: 1 });
  signal(run, { payloadJson: '"done"' });
  expect(run.state.status).toBe("completed");
  expectFolded(run);
});

test("a join that has fired cancels a parent that still waits for its signal", () => {
  const join = { id: "j", join: "any", late: "cancel" };
  const run = begin(sketch(["s", wait("w"), "a", join], ["s>w", "s>a", "w>j", "a>j"]));
  run.claim("a");
  run.report("a", completed());
  expect(run.node("w").status).toBe("cancelled");
  expect(run.state.waits.size).toBe(0);
  expect(signal(run)).toBe("kept");
});

test("only an await_signal may wait for a signal, whatever an executor reports", () => {
  const run = begin(sketch(["s", "a", wait("w")], ["s>a", "s>w"]));
  signal(run);
  signal(run);
  run.claim("a");
  run.report("a", { kind: "awaiting", name: "paid", durationMs: 1 });
  expect(run.node("a")).toMatchObject({ status: "failed" });
  expect(run.state.signals.size).toBe(1);
});
