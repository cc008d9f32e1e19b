import * as fc from "fast-check";
import { expect, test } from "vitest";
import { play, scenarios } from "../../test/arbitrary-run.ts";
import { completed, failed, sketch, startToyRun, type ToyRun } from "../../test/toy-run.ts";
import { causeOf } from "../log/cause.ts";
import { mayCause } from "../log/meaning.ts";
import type { PauseNote } from "../log/event.ts";
import { fold } from "../log/fold.ts";
import { onPause, onResume, queuedExecutions } from "./pause.ts";
import { onCancel, onDeadline } from "./stop.ts";

fc.configureGlobal({ seed: 1 });

const BY_HAND = { scope: "run", who: "ada", reason: "a bad model" } as const;
const BY_WORKFLOW = { scope: "workflow", who: "ben", reason: "maintenance" } as const;

function apply(run: ToyRun, kind: "pause" | "resume", note: PauseNote) {
  const result = kind === "pause" ? onPause(run.state, note) : onResume(run.state, note, run.now);
  if (result.kind === "accepted") result.facts.forEach(run.append);
  run.plan();
  return result.kind;
}

const diamond = () => startToyRun(sketch(["s", "a", "b", "c"], ["s>a", "s>b", "a>c", "b>c"]));

test("while a run is paused, results are recorded and no node is queued or claimed; a resumed run continues from its log", () => {
  const run = diamond();
  run.complete("s");
  run.claim("a");
  run.now = 2_000;
  expect(apply(run, "pause", BY_HAND)).toBe("accepted");
  expect(run.state.pause).toEqual(BY_HAND);
  run.report("a", completed());
  expect(() => run.claim("b")).toThrow("queued");
  expect(queuedExecutions(run.state)).toEqual([{ nodeIndex: run.index("b"), iteration: 0 }]);
  expect(fold(run.state.runId, run.state.graph, run.events)).toEqual(run.state);
  run.now = 5_000;
  expect(apply(run, "resume", { ...BY_HAND, reason: "mended" })).toBe("accepted");
  run.complete("b");
  run.complete("c");
  expect(run.state.status).toBe("completed");
});

test("pausing and resuming twice changes nothing, and neither does either once the run is over", () => {
  const run = startToyRun(sketch(["a"], []));
  expect(apply(run, "resume", BY_HAND)).toBe("repeated");
  apply(run, "pause", BY_HAND);
  expect(apply(run, "pause", { ...BY_HAND })).toBe("repeated");
  apply(run, "resume", BY_HAND);
  run.complete("a");
  expect(apply(run, "pause", BY_HAND)).toBe("finished");
  expect(apply(run, "resume", BY_HAND)).toBe("finished");
});

test("a run that a user paused stays paused when its workflow resumes, and a run paused with its workflow resumes only with it", () => {
  const run = startToyRun(sketch(["a"], []));
  apply(run, "pause", BY_WORKFLOW);
  expect(apply(run, "resume", BY_HAND)).toBe("held_by_workflow");
  expect(apply(run, "pause", BY_HAND)).toBe("accepted");
  expect(apply(run, "pause", BY_WORKFLOW)).toBe("repeated");
  expect(apply(run, "resume", BY_WORKFLOW)).toBe("repeated");
  expect(run.state).toMatchObject({ status: "paused", pause: { who: "ada" } });
  expect(apply(run, "resume", BY_HAND)).toBe("accepted");
  expect(run.state).toMatchObject({ status: "running", pause: undefined });
});

test("a retry and a lost claim of a paused run wait for its resumption (S0.14)", () => {
  const task = (id: string) => ({ id, type: "task", retry: { attempts: 2 } });
  const run = startToyRun(sketch(["s", task("a"), task("b")], ["s>a", "s>b"]));
  run.complete("s");
  run.claim("a");
  run.claim("b");
  apply(run, "pause", BY_HAND);
  run.report("a", failed());
  run.lose("b");
  expect([run.node("a").status, run.node("b").status]).toEqual(["queued", "queued"]);
  expect(() => run.claim("a")).toThrow("queued");
  apply(run, "resume", BY_HAND);
  run.complete("a");
  run.complete("b");
  expect(run.state.status).toBe("completed");
});

test("paused time does not count against the deadline, and a paused run can be cancelled", () => {
  const run = startToyRun(sketch(["a"], []));
  const { deadlineAt } = run.state;
  run.now = 2_000;
  apply(run, "pause", BY_HAND);
  run.now = deadlineAt + 9_000;
  expect(onDeadline(run.state, run.now).kind).toBe("early");
  expect(onCancel(run.state, { reason: "", requestId: "", now: 0 }).kind).toBe("accepted");
  apply(run, "resume", BY_HAND);
  expect(run.state.deadlineAt).toBe(deadlineAt + run.now - 2_000);
});

test("a run paused and resumed at random points ends as a run without pauses, and every prefix of its log folds to its state at that point", () => {
  const orderly = scenarios(12, { fatal: false, racy: false });
  fc.assert(
    fc.property(orderly, fc.integer(), (scenario, seed) => {
      const endOf = (pauses: boolean) => {
        const { run } = play(scenario, seed, () => undefined, { pauses });
        const { status, output, hasFailures, nodes } = run.state;
        const ends = nodes.map((node) => [node.status, node.handle, node.output, node.attempt]);
        return { run, end: { status, output, hasFailures, ends } };
      };
      const { run, end } = endOf(true);
      expect(end).toEqual(endOf(false).end);
      for (const event of run.events.slice(1)) {
        const cause = run.events[causeOf(event) - 1];
        expect(cause !== undefined && mayCause(cause.type, event.type), event.type).toBe(true);
      }
      expect(fold(run.state.runId, run.state.graph, run.events)).toEqual(run.state);
    }),
    { numRuns: 300 },
  );
});
