// Properties of repairs, over random programs. A program has joins, handles, policies, maps, write keys and variables. A handler gives an
// output that depends on the outputs of its parents only, so every order of results gives the same outputs.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { randomOf } from "../../test/arbitrary-run.ts";
import { playProgram, programs } from "../../test/loop-program.ts";
import { completed, expanded, failed, graphOf, RUN, startToyRun } from "../../test/toy-run.ts";
import type { ToyRun } from "../../test/toy-run.ts";
import { causeOf } from "../log/cause.ts";
import { checkLog } from "../log/check.ts";
import { isSettled, type RunEvent } from "../log/event.ts";
import { roundOf } from "../log/execution.ts";
import { fold } from "../log/fold.ts";
import { mayCause } from "../log/meaning.ts";
import { readSnapshot, SNAPSHOT_FORMAT, writeSnapshot } from "../log/snapshot.ts";
import { eventsUpTo } from "./ends.ts";
import { planRepair, type RepairPlan, type RepairRequest } from "./plan.ts";

fc.configureGlobal({ seed: 1 });

const seeds = fc.integer();

const drawn = fc.record({
  parents: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
  on_parent_failure: fc.constantFrom("skip", "propagate", "substitute_default"),
  error_handling: fc.constantFrom("continue", "fail_node", "fail_workflow"),
  width: fc.option(fc.nat(4), { nil: undefined, freq: 2 }),
  parallelism: fc.integer({ min: 1, max: 3 }),
  on_item_failure: fc.constantFrom("continue", "fail"),
  isRemembered: fc.boolean(),
  isNamed: fc.boolean(),
  isBroken: fc.constantFrom(false, false, true),
});
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;

const dags = fc.array(drawn, { minLength: 2, maxLength: 8, size: "max" });

const idOf = (index: number): string => `n${index}`;

const definitionOf = (nodes: readonly Drawn[]) => ({
  nodes: nodes.map((node, index) => {
    const { on_parent_failure, error_handling, parallelism, on_item_failure } = node;
    const config = { items: [], body: { type: "task" }, parallelism, on_item_failure };
    return {
      id: idOf(index),
      ...(node.width === undefined ? { type: "task" } : { type: "map", config }),
      ...{ on_parent_failure, error_handling },
      ...(node.isRemembered && { write_key: `key_${idOf(index)}` }),
      ...(node.isNamed && { output_variable: `var_${idOf(index)}` }),
    };
  }),
  edges: nodes.flatMap(({ parents }, index) =>
    index === 0
      ? []
      : [...new Set(parents.map((parent) => parent % index))].map((parent) => ({
          source: idOf(parent),
          target: idOf(index),
        })),
  ),
});

/** The output of an execution: a text of the outputs of its parents. */
function outputOf({ state }: ToyRun, index: number, item: number): string {
  const parents = state.graph.nodes[index]?.incoming ?? [];
  const read = parents.map(({ source }) => state.nodes[source]?.output ?? "none");
  return `${idOf(index)}.${item}(${read.join()})`;
}

/** Plays a run to its end. Handlers of broken nodes fail; of a broken map every second item does. */
function play(run: ToyRun, nodes: readonly Drawn[], seed: number, isMended: boolean): ToyRun {
  const random = randomOf(seed);
  for (let turn = 0; turn < 1_000; turn++) {
    const open = run.state.graph.nodes.flatMap(({ index }) => {
      const node = run.state.nodes[index];
      if (node === undefined) return [];
      return roundOf(node).flatMap(([item, { status }]) =>
        status === "queued" ? [{ index, item }] : [],
      );
    });
    const actor = open[Math.floor(random() * open.length)];
    if (actor === undefined) return run;
    const { index, item } = actor;
    const name = item === 0 ? idOf(index) : `${idOf(index)}#${item}`;
    const { width, isBroken = false } = nodes[index] ?? {};
    run.claim(name);
    const isFailing = isBroken && !isMended && (width === undefined || item % 2 === 0);
    if (width !== undefined && item === 0)
      run.report(name, expanded(Array.from({ length: width }, () => null)));
    else
      run.report(
        name,
        isFailing ? failed("provider_error", true) : completed(outputOf(run, index, item)),
      );
  }
  throw new Error("the program does not end");
}

const ASKED = { fromNodes: new Set<string>(), keepNodes: new Set<string>(), outputs: [] };

function planOf(run: ToyRun, asked: Partial<RepairRequest> = {}): RepairPlan {
  const { graph } = run.state;
  const origin = { runId: RUN, graph, events: run.events };
  const note = { who: "", reason: "" };
  const planned = planRepair(origin, { graph, note, ...ASKED, ...asked }, run.now);
  if (!planned.ok) throw new Error(planned.message);
  return planned.plan;
}

const resultOf = ({ state }: ToyRun) => ({
  status: state.status,
  output: state.output,
  hasFailures: state.hasFailures,
  outputs: state.nodes.map(({ status, output, handle }) => ({ status, output, handle })),
  memory: Object.fromEntries([...state.memory].map(([key, { json }]) => [key, json])),
  variables: new Set(state.variables),
});

/** The log is legal: seqs, causes, and the same state from the log and from a snapshot. */
function expectLegal({ state, events }: ToyRun): void {
  checkLog(events);
  const untold = events.filter((event) => {
    const cause = events[causeOf(event) - 1];
    return cause === undefined ? event.seq > 1 : !mayCause(cause.type, event.type);
  });
  expect(untold).toEqual([]);
  const words = ({ frontier: _frontier, scopes: _scopes, graph: _graph, ...rest }: typeof state) =>
    rest;
  expect(words(fold(RUN, state.graph, events))).toEqual(words(state));
  const kept = { format: SNAPSHOT_FORMAT, body: writeSnapshot(state) };
  const restored = readSnapshot(RUN, state.graph, kept);
  expect(restored && words(restored)).toEqual(words(state));
}

const started = (events: readonly RunEvent[], id: string): RunEvent[] =>
  events.filter(({ type, nodeId }) => type === "node.started" && nodeId === id);

test("a run that is repaired after its nodes were mended equals a run that never failed, and starts no reused node (X28)", () => {
  let reusedCount = 0;
  let itemCount = 0;
  fc.assert(
    fc.property(dags, seeds, seeds, (nodes, seed, other) => {
      const graph = graphOf(definitionOf(nodes));
      const broken = play(startToyRun(graph), nodes, seed, false);
      const { facts, nodes: planned } = planOf(broken);
      const repaired = startToyRun(graph, null, undefined, facts);
      expectLegal(repaired);
      play(repaired, nodes, other, true);
      const whole = play(startToyRun(graph), nodes, seed, true);
      expect(resultOf(repaired)).toEqual(resultOf(whole));
      expectLegal(repaired);
      for (const { nodeId, action, itemsReused, eventId } of planned) {
        if (action === "reuse") {
          expect(started(repaired.events, nodeId)).toEqual([]);
          expect(broken.events[eventId - 1]).toMatchObject({ nodeId });
          reusedCount += 1;
        }
        if (action !== "run_items") continue;
        const items = started(repaired.events, nodeId).filter(({ iteration }) => iteration > 0);
        const { width } = nodes[Number(nodeId.slice(1))] ?? {};
        expect(items).toHaveLength((width ?? 0) - itemsReused);
        itemCount += itemsReused;
      }
    }),
    { numRuns: 1_000 },
  );
  expect(reusedCount).toBeGreaterThan(1_000);
  expect(itemCount).toBeGreaterThan(50);
});

test("a run with rounds, jumps and maps that is repaired from its end or from any node has a legal log and ends (X28, X13)", () => {
  let roundCount = 0;
  fc.assert(
    fc.property(programs(8), seeds, fc.nat(), fc.boolean(), (program, seed, pick, isEvent) => {
      const origin = playProgram(program, seed, () => undefined);
      const { nodes } = program.definition;
      const from = new Set(isEvent ? [] : [nodes[pick % nodes.length]?.id ?? ""]);
      const cut = isEvent ? (pick % origin.events.length) + 1 : origin.events.length;
      const { facts } = planOf(
        { ...origin, events: [...eventsUpTo(origin.events, cut)] },
        { fromNodes: from },
      );
      const repaired = startToyRun(origin.state.graph, null, undefined, facts);
      expectLegal(repaired);
      roundCount += facts.filter(({ type }) => type === "node.invalidated").length;
      playProgram(program, seed, () => undefined, repaired);
      expectLegal(repaired);
      expect(repaired.state.endedAt).toBeDefined();
      const once = Map.groupBy(
        repaired.events.filter(({ type }) => type === "node.completed"),
        ({ nodeId, iteration }) => `${nodeId}#${iteration}`,
      );
      for (const own of once.values()) expect(own).toHaveLength(1);
    }),
    { numRuns: 1_000 },
  );
  expect(roundCount).toBeGreaterThan(300);
});

test("a run without failures is reused whole: the new run has the same outputs, memory and end, and starts nothing (X28)", () => {
  let wholeCount = 0;
  fc.assert(
    fc.property(programs(8), seeds, (program, seed) => {
      const origin = playProgram(program, seed, () => undefined);
      const { state } = origin;
      if (state.status !== "completed" || state.hasFailures) return;
      const { facts } = planOf(origin);
      const repaired = startToyRun(state.graph, null, undefined, facts);
      expect(resultOf(repaired)).toEqual({ ...resultOf(origin), variables: expect.anything() });
      expect(repaired.state.nodes.every(({ status }) => isSettled(status))).toBe(true);
      expect(repaired.events.filter(({ type }) => type === "node.queued")).toEqual([]);
      wholeCount += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(wholeCount).toBeGreaterThan(100);
});
