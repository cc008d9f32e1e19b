import { expect, test } from "vitest";
import { task, undo, diamond, done, cancel, queued, lastOf } from "../../test/saga.ts";
import { completed, graphOf, nameOf, startToyRun } from "../../test/toy-run.ts";
import { onPause, onResume } from "./pause.ts";
import { onDeadline } from "./stop.ts";

test("a cancel undoes unless the definition or the caller says no; a caller may ask for it (S2.16)", () => {
  const of = (compensate_on: readonly string[]) =>
    startToyRun(
      graphOf({
        compensate_on,
        nodes: [task("a"), task("b")],
        edges: [{ source: "a", target: "b" }],
      }),
    );
  const statusAfter = (on: readonly string[], compensate?: boolean) => {
    const run = of(on);
    done(run, "a");
    cancel(run, "", compensate);
    return run.state.status;
  };
  expect(statusAfter(["failure", "cancel"])).toBe("compensating");
  expect(statusAfter(["failure"])).toBe("cancelled");
  expect(statusAfter(["failure"], true)).toBe("compensating");
  expect(statusAfter(["cancel"], false)).toBe("cancelled");
});

test("a deadline undoes the run, and the run's own deadline does not end the compensation (S2.16)", () => {
  const run = diamond();
  done(run, "s", "a");
  run.now = run.state.deadlineAt;
  const stop = onDeadline(run.state, run.now);
  if (stop.kind === "accepted") stop.facts.forEach(run.append);
  run.plan();
  expect(run.state).toMatchObject({ status: "compensating", deadlineAt: run.now + 3_600_000 });
  expect(onDeadline(run.state, run.now + 1)).toEqual({ kind: "early" });
  run.complete(undo("a"));
  expect(lastOf(run)).toMatchObject({
    type: "run.timed_out",
    payload: { compensation: { undone: 1 } },
  });
});

test("a compensation that passes its own deadline stops, and the end names what is left (S2.16)", () => {
  const run = diamond();
  done(run, "s", "a", "b");
  cancel(run, "r1");
  run.claim(undo("b"));
  const { epoch } = run.execution(undo("b"));
  run.now = run.state.deadlineAt;
  const stop = onDeadline(run.state, run.now);
  if (stop.kind === "accepted") stop.facts.forEach(run.append);
  const why = "the compensation passed its deadline";
  expect(lastOf(run)).toMatchObject({
    type: "run.cancelled",
    payload: {
      requestId: "r1",
      compensation: {
        undone: 0,
        left: 2,
        named: [
          { nodeId: "a", iteration: 0, why },
          { nodeId: "b", iteration: 0, why },
        ],
      },
    },
  });
  expect(run.report(undo("b"), completed(), epoch).kind).toBe("stale");
});

test("the cancel that began a compensation may be repeated; another cancel stops it (S2.16)", () => {
  const run = diamond();
  done(run, "s", "a", "b");
  cancel(run, "r1");
  const { length } = run.events;
  cancel(run, "r1");
  expect(run.events).toHaveLength(length);
  cancel(run, "r2");
  expect(run.events.slice(length).map((event) => `${event.type} ${nameOf(event)}`)).toEqual([
    `node.cancelled ${undo("a")}`,
    `node.cancelled ${undo("b")}`,
    "run.cancelled ",
  ]);
  expect(lastOf(run)?.payload).toMatchObject({ requestId: "r1", compensation: { left: 2 } });
});

test("a paused compensation starts nothing, and resumes as compensating (S2.16, X8)", () => {
  const run = diamond();
  done(run, "s", "a", "b");
  cancel(run);
  run.claim(undo("b"));
  const note = { scope: "run", who: "ann", reason: "" } as const;
  const paused = onPause(run.state, note);
  if (paused.kind === "accepted") paused.facts.forEach(run.append);
  run.report(undo("b"), completed());
  expect(queued(run)).toEqual([]);
  expect(run.state.status).toBe("paused");
  const resumed = onResume(run.state, note, run.now);
  if (resumed.kind === "accepted") resumed.facts.forEach(run.append);
  run.plan();
  expect(run.state.status).toBe("compensating");
  expect(queued(run)).toEqual(["a#0"]);
});
