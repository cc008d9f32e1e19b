import * as fc from "fast-check";
import { expect, test } from "vitest";
import { play, scenarios } from "../../test/arbitrary-run.ts";
import { RUN, sketch, startToyRun } from "../../test/toy-run.ts";
import { decide } from "../plan/plan.ts";
import { apply, fold } from "./fold.ts";
import { readSnapshot, SNAPSHOT_FORMAT, writeSnapshot } from "./snapshot.ts";
import { newExecutionState, newNodeState, newRunState, type RunState } from "./state.ts";

fc.configureGlobal({ seed: 1 });

const restored = (state: RunState): RunState | undefined =>
  readSnapshot(state.runId, state.graph, { format: SNAPSHOT_FORMAT, body: writeSnapshot(state) });

const withoutGraph = ({ graph: _graph, ...rest }: RunState) => rest;

test("a snapshot of any prefix and the events after it fold to the state of the whole log, and plan the same (S0.36, S0.38, X5)", () => {
  fc.assert(
    fc.property(
      scenarios(8, { fatal: true }),
      fc.integer(),
      // Texts long and short, within JSON and beyond ASCII.
      fc.string({ unit: "binary", maxLength: 60 }),
      (scenario, seed, text) => {
        const { run } = play(scenario, seed);
        const { graph } = run.state;
        const events = run.events.map((event) =>
          event.type === "node.completed" ? { ...event, value: JSON.stringify(text) } : event,
        );
        const whole = fold(RUN, graph, events);
        const plan = decide(fold(RUN, graph, events), run.now);
        const prefix = newRunState(RUN, graph);
        for (const [at, event] of events.entries()) {
          apply(prefix, event);
          const state = restored(prefix);
          if (state === undefined) throw new Error(`no state was restored at ${at + 1}`);
          expect(withoutGraph(state)).toStrictEqual(withoutGraph(prefix));
          expect([...state.frontier]).toEqual([...prefix.frontier]);
          for (const later of events.slice(at + 1)) apply(state, later);
          expect(withoutGraph(state)).toStrictEqual(withoutGraph(whole));
          expect(decide(state, run.now)).toEqual(plan);
        }
      },
    ),
    { numRuns: 30 },
  );
});

test("a state restored in the middle plans what the folded one plans", () => {
  fc.assert(
    fc.property(scenarios(10, { fatal: true }), fc.integer(), (scenario, seed) => {
      const { run } = play(scenario, seed);
      for (let length = 1; length <= run.events.length; length++) {
        const state = fold(RUN, run.state.graph, run.events.slice(0, length));
        const again = restored(state);
        expect(again === undefined ? undefined : decide(again, run.now)).toEqual(
          decide(state, run.now),
        );
      }
    }),
    { numRuns: 60 },
  );
});

test("a snapshot that cannot be read whole is ignored (X5)", () => {
  const { state } = startToyRun(sketch(["start", "a"], ["start>a"]), { long: "x".repeat(100) });
  const body = writeSnapshot(state);
  const read = (format: number, text: string) =>
    readSnapshot(RUN, state.graph, { format, body: text });
  expect(read(SNAPSHOT_FORMAT, body)).toBeDefined();
  expect(read(SNAPSHOT_FORMAT + 1, body)).toBeUndefined();
  expect(read(SNAPSHOT_FORMAT, body.slice(0, -1))).toBeUndefined();
  expect(read(SNAPSHOT_FORMAT, body.slice(10))).toBeUndefined();
  expect(read(SNAPSHOT_FORMAT, body.replace("lostDeliveries", "lost"))).toBeUndefined();
  expect(read(SNAPSHOT_FORMAT, "")).toBeUndefined();
  const other = sketch(["start", "a", "b"], ["start>a", "a>b"]);
  expect(readSnapshot(RUN, other, { format: SNAPSHOT_FORMAT, body })).toBeUndefined();
});

test("a field that the state gains is in the snapshot without a word about it", () => {
  const { state } = startToyRun(sketch(["start", "a"], ["start>a"]));
  for (const fresh of [newRunState(RUN, state.graph), newNodeState(), newExecutionState()])
    for (const key of Object.keys(fresh)) expect(writeSnapshot(state)).toContain(key);
});
