// Properties of labels over random programs with edges, variables, memory, maps, loops, rounds and child runs. The oracle is the values
// themselves: every source writes a marker into its output, and the other nodes copy what they read.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { markersIn, playTaint, taintPrograms } from "../../test/taint-program.ts";
import { RUN, type ToyRun } from "../../test/toy-run.ts";
import { TaintTracer } from "../explain/taint.ts";
import { executionDefinition } from "../log/execution.ts";
import { apply, fold, newRunState } from "../log/fold.ts";
import { readSnapshot, SNAPSHOT_FORMAT, writeSnapshot } from "../log/snapshot.ts";
import type { RunState } from "../log/state.ts";
import { readTaint } from "../log/taint.ts";
import { labelsOf, type Taint } from "../policy/taint.ts";

fc.configureGlobal({ seed: 1 });

/** Every value of the log with its labels. */
function* valuesOf({ events }: ToyRun): Generator<readonly [string, string, Taint | undefined]> {
  for (const event of events) {
    if (event.type === "node.completed" || event.type === "node.expanded")
      yield [`${event.nodeId}#${event.iteration}`, event.value ?? "", event.payload.taint];
    if (event.type === "memory.updated")
      for (const [key, value] of Object.entries(JSON.parse(event.value ?? "{}") as object))
        yield [key, JSON.stringify(value), event.payload.taint?.[key]];
    if (event.type === "run.completed") yield ["run", event.value ?? "", event.payload.taint];
  }
}

test("a value that was made from labelled data has its labels, whatever way it took (S2.41, X21)", () => {
  const counts = { labelled: 0, clean: 0, rounds: 0, keys: 0, runs: 0 };
  fc.assert(
    fc.property(taintPrograms(), (program) => {
      const run = playTaint(program);
      for (const [name, value, taint] of valuesOf(run)) {
        const labels = new Set(labelsOf(taint));
        for (const marker of markersIn(value)) expect([name, ...labels]).toContain(marker);
        counts[taint === undefined ? "clean" : "labelled"] += 1;
        if (name === "run" && taint !== undefined) counts.runs += 1;
      }
      for (const [key, { json, taint }] of run.state.memory) {
        for (const marker of markersIn(json)) expect([key, ...labelsOf(taint)]).toContain(marker);
        if (taint !== undefined) counts.keys += 1;
      }
      counts.rounds += run.state.iterationCount;
    }),
    { numRuns: 400 },
  );
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(20);
});

test("every label of a value has a path of events from an origin that added it (S2.40, S2.42)", () => {
  let paths = 0;
  fc.assert(
    fc.property(taintPrograms(), (program) => {
      const { events, state: played } = playTaint(program);
      const tracer = new TaintTracer();
      const state = newRunState(RUN, played.graph);
      for (const event of events) {
        tracer.note(state, event);
        apply(state, event);
      }
      const check = (name: string, { taint, steps }: ReturnType<TaintTracer["ofKey"]>): void => {
        const added = new Set(steps.flatMap((step) => step.added));
        for (const label of labelsOf(taint)) expect([name, ...added]).toContain(label);
        for (const { seq, sources } of steps)
          for (const source of sources) expect(source.seq).toBeLessThan(seq);
        paths += taint.length;
      };
      for (const [index, { base, status }] of state.nodes.entries())
        if (status === "completed") check(`node ${index}`, tracer.ofNode(state, index, base));
      for (const key of state.memory.keys()) check(key, tracer.ofKey(state, key));
    }),
    { numRuns: 200 },
  );
  expect(paths).toBeGreaterThan(100);
});

const DENY = [{ action: "deny", types: ["llm"], if_tainted_by: ["web"] }];

test("no executor gets data that a policy denies its type, also if the data came while it waited (S2.42)", () => {
  const counts = { denied: 0, late: 0, claimed: 0 };
  fc.assert(
    fc.property(taintPrograms(DENY), (program) => {
      const isGated = program.graph.definition.policies.length > 0;
      const run = playTaint(program, ({ state }, { nodeIndex, iteration }) => {
        const { type } = executionDefinition(state, nodeIndex, iteration);
        if (type !== "llm" || !isGated) return;
        counts.claimed += 1;
        expect(labelsOf(readTaint(state, nodeIndex, iteration))).not.toContain("web");
      });
      for (const { type, payload, attempt } of run.events) {
        if (type !== "node.failed" || payload.cause !== "taint_denied") continue;
        counts.denied += 1;
        // It waited in the queue when the data came.
        if (attempt > 0) counts.late += 1;
      }
    }),
    { numRuns: 800 },
  );
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(3);
});

/** The state without the graph and the work lists of the planner. */
const meaningOf = ({
  graph: _graph,
  frontier: _f,
  scopes: _s,
  isTaintMoved: _m,
  ...rest
}: RunState) => rest;

test("a fold, a replay and a snapshot have the same labels (S2.40)", () => {
  fc.assert(
    fc.property(taintPrograms(), fc.nat(), (program, cut) => {
      const { events, state } = playTaint(program);
      const replayed = fold(RUN, state.graph, events);
      expect(meaningOf(replayed)).toEqual(meaningOf(state));
      const half = fold(RUN, state.graph, events.slice(0, cut % (events.length + 1)));
      const kept = { format: SNAPSHOT_FORMAT, body: writeSnapshot(half) };
      const restored = readSnapshot(RUN, state.graph, kept);
      if (restored === undefined) throw new Error("the snapshot is not readable");
      for (const event of events.slice(half.lastSeq)) apply(restored, event);
      expect(meaningOf(restored)).toEqual(meaningOf(state));
    }),
    { numRuns: 100 },
  );
});
